//! A workspace that looks like one: many files of functions with names of their own and names in common.

use std::{fmt::Write, path::Path};

use anyhow::Result;

/// A source file, with a function for every few lines.
pub(crate) struct Generated {
    pub(crate) functions: Vec<Function>,
}

/// A function with a name that is declared once and used some lines below.
pub(crate) struct Function {
    /// The first line, counted from 0.
    pub(crate) line: usize,
    pub(crate) local: String,
    lines: Vec<String>,
}

const WORDS: [&str; 24] = [
    "request", "header", "buffer", "cursor", "session", "window", "client", "server", "offset", "parser",
    "token", "range", "config", "handler", "stream", "record", "counter", "latency", "worker", "message",
    "channel", "payload", "index", "query",
];

/// Numbers that are the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound
    }

    fn name(&mut self) -> String {
        format!("{}_{}", WORDS[self.below(WORDS.len())], WORDS[self.below(WORDS.len())])
    }
}

/// A source file of about this many lines.
pub(crate) fn source(seed: u64, lines: usize) -> Generated {
    let mut chance = Chance(seed.wrapping_mul(31).wrapping_add(7));
    let mut functions: Vec<Function> = Vec::new();
    let mut line = 0;
    while line < lines {
        let function = function(&mut chance, line, functions.len());
        line += function.lines.len();
        functions.push(function);
    }
    Generated { functions }
}

fn function(chance: &mut Chance, line: usize, number: usize) -> Function {
    let local = format!("{}_{number}", chance.name());
    let (argument, call) = (chance.name(), chance.name());
    let lines = vec![
        format!("/// Brings the {} of the {} in order.", argument.replace('_', " "), call.replace('_', " ")),
        format!("pub fn {call}_{number}({argument}: &mut Vec<u64>, limit: usize) -> usize {{"),
        format!(
            "    let {local} = {argument}.iter().filter(|value| **value > {}).count();",
            chance.below(900)
        ),
        format!("    if {argument}.len() > limit {{"),
        format!("        {argument}.truncate(limit + {local});"),
        "    }".to_owned(),
        format!("    for place in 0..{argument}.len() {{"),
        format!("        {argument}[place] += {} * place as u64;", chance.below(90)),
        "    }".to_owned(),
        format!("    {argument}.len() + {local}"),
        "}".to_owned(),
        String::new(),
    ];
    Function { line, local, lines }
}

impl Generated {
    /// The whole file.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        for line in self.functions.iter().flat_map(|function| &function.lines) {
            let _ = writeln!(text, "{line}");
        }
        text
    }
}

/// Writes the files, about 10 KB each, and says how many bytes they have.
pub(crate) fn write(folder: &Path, files: usize) -> Result<usize> {
    let mut bytes = 0;
    for number in 0..files {
        let directory = folder.join(format!("part_{}", number / 50));
        std::fs::create_dir_all(&directory)?;
        let text = source(number as u64, 240).text();
        bytes += text.len();
        std::fs::write(directory.join(format!("file_{number}.rs")), text)?;
    }
    Ok(bytes)
}
