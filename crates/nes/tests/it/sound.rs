//! Whatever is done to real files, no suggestion breaks them: the files of this repository, and if asked, of the crates it
//! uses and of Python, where they are there.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
};

use nudge_nes::Scene;
use nudge_predict::{
    Eagerness, FeedbackMemory, LessonCache, OfferedKinds, SuggestTrigger, SuggestionKind, consider,
};
use nudge_syntax::{AnalysedDocument, Language, WorkspaceIndex};
use nudge_text::{Edits, Text, history::EditHistory};

/// How many files of each language are looked at, and how many things are done to each. `NUDGE_SOUND=20` does 20 times as
/// much, also with files that are on this machine and not on another.
const FILES: usize = 2;
const DEEDS: u64 = 4;
/// Longer files take too long.
const LONGEST: usize = 24 * 1024;

const EXTENSIONS: [&str; 8] = ["py", "rs", "js", "ts", "c", "go", "java", "cs"];

/// Where files may be.
fn places(everywhere: bool) -> Vec<PathBuf> {
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cargo")));
    let mut places = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")];
    if !everywhere {
        return places;
    }
    places.extend(home.map(|home| home.join("registry/src")));
    places.push(PathBuf::from("/usr/lib/python3"));
    places.extend((9..20).map(|minor| PathBuf::from(format!("/usr/lib/python3.{minor}"))));
    places
}

/// The files of a folder, not too deep and not too many.
fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (path, kind) = (entry.path(), entry.file_type().expect("a known kind"));
        let is_output = path.ends_with("target") || path.ends_with(".git");
        if kind.is_dir() && depth > 0 && !is_output {
            collect(&path, depth - 1, found);
        } else if kind.is_file() && entry.metadata().is_ok_and(|about| about.len() <= LONGEST as u64) {
            found.push(path);
        }
    }
}

/// Some files of each language, from all over.
fn files(times: usize, everywhere: bool) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for place in places(everywhere) {
        collect(&place, 6, &mut all);
    }
    let mut chosen = Vec::new();
    for extension in EXTENSIONS {
        let of = all.iter().filter(|path| path.extension().is_some_and(|found| found == extension));
        let of: Vec<&PathBuf> =
            of.filter(|path| fs::metadata(path).is_ok_and(|about| about.len() > 800)).collect();
        let more = if extension == "py" { 4 } else { 1 };
        let step = (of.len() / (FILES * times * more)).max(1);
        chosen.extend(of.into_iter().step_by(step).take(FILES * times * more).cloned());
    }
    chosen
}

/// Numbers that look like chance and are the same every time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("it is small") % most.max(1)
    }
}

/// A file that somebody works in.
struct Work {
    source: AnalysedDocument,
    history: EditHistory,
}

impl Work {
    fn new(uri: &str, text: &str) -> Self {
        let language = Language::of(None, uri);
        Self {
            source: AnalysedDocument::new(uri.into(), language, Text::new(text)),
            history: EditHistory::default(),
        }
    }

    fn edit(&mut self, edits: &Edits) {
        let after = edits.apply(self.source.text());
        self.history.record(self.source.uri(), self.source.text(), edits, &after, 0);
        self.history.close_open();
        self.source = self.source.edited(edits, after);
    }

    /// What is thought of with the cursor at a place, however unlikely.
    fn thoughts(&self, cursor: usize) -> Vec<Edits> {
        let found = consider(&Scene {
            source: &self.source,
            cursor: self.source.text().floor(cursor),
            selection: None,
            visible: None,
            others: &[],
            changes: &self.history.changes(),
            diagnostics: &[],
            actions: &[],
            snippets: &[],
            index: &WorkspaceIndex::default(),
            memory: &FeedbackMemory::default(),
            lessons: &LessonCache::default(),
            offers: OfferedKinds::default(),
            eagerness: Eagerness::High,
            trigger: SuggestTrigger::Automatic,
            cancelled: &|| false,
        });
        let edits = |kind| match kind {
            SuggestionKind::Edit { edits, .. } => Some(edits),
            _ => None,
        };
        found.suggestions.into_iter().filter_map(|found| edits(found.kind)).collect()
    }
}

/// Something that can be done to a text, and the other places where it could be done.
fn deed(text: &str, chance: &mut Chance) -> Option<(Edits, Vec<usize>)> {
    let value = ["None", "null", "0", "\"x\"", "true"][chance.below(5)];
    if chance.below(2) == 0 {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let start = |line: usize| lines[..line].iter().map(|line| line.len()).sum::<usize>();
        let alike = |at: usize, other: &usize| *other != at && lines[*other].trim() == lines[at].trim();
        let is_solid = |line: &str| line.trim().len() > 3 && line.ends_with('\n');
        // A line that stands elsewhere too: what is done to one may be done to the others.
        let is_meant = |at: &usize| is_solid(lines[*at]) && (0..lines.len()).any(|other| alike(*at, &other));
        let at = (0..60).map(|_| chance.below(lines.len())).find(is_meant)?;
        let others = (0..lines.len()).filter(|other| alike(at, other)).map(start).take(6).collect();
        return Some((Edits::one(start(at)..start(at) + lines[at].len(), ""), others));
    }
    let is_name = |word: &&str| word.len() > 2 && word.starts_with(|c: char| c.is_ascii_lowercase());
    let names: Vec<&str> =
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(is_name).collect();
    let name = *names.get(chance.below(names.len()))?;
    let places: Vec<usize> = text.match_indices(name).map(|(at, _)| at).collect();
    let at = *places.get(chance.below(places.len()))?;
    let new = if chance.below(3) == 0 { format!("{name}_new") } else { value.to_owned() };
    let others = places.into_iter().filter(|other| *other != at).take(3).collect();
    Some((Edits::one(at..at + name.len(), new), others))
}

/// How many pairs of brackets with nothing between them there are.
fn empty_pairs(text: &str) -> usize {
    let solid: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    solid.matches("{}").count()
}

/// Whether edits of a sound file leave one, and take no block's last statement.
fn leaves_sound(before: &AnalysedDocument, edits: &Edits) -> bool {
    let after = edits.apply(before.text());
    let gone: usize = edits.iter().map(|edit| empty_pairs(&before.text().slice(edit.range.clone()))).sum();
    let written: usize = edits.iter().map(|edit| empty_pairs(&edit.text)).sum();
    let empty = before.language() == Language::Python
        || empty_pairs(&after.to_string()) + gone <= empty_pairs(before.content()) + written;
    let fresh = AnalysedDocument::new(Arc::clone(before.uri()), before.language(), after);
    empty && fresh.is_sound() != Some(false)
}

#[test]
fn no_suggestion_breaks_a_real_file() {
    let asked = std::env::var("NUDGE_SOUND").ok().and_then(|times| times.parse().ok());
    let mut python: Vec<[String; 2]> = Vec::new();
    let (mut looked_at, mut broken) = (0, Vec::new());
    for path in files(asked.unwrap_or(1), asked.is_some()) {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        for seed in 0..DEEDS {
            let mut work = Work::new(&format!("file://{}", path.display()), &text);
            let mut chance = Chance(seed * 7919 + text.len() as u64);
            let Some((edits, others)) = deed(&text, &mut chance) else { continue };
            let place = edits.as_slice()[0].range.start;
            let cursors: Vec<usize> =
                others.iter().map(|at| edits.map(*at, nudge_text::InsertBias::After)).collect();
            work.edit(&edits);
            if work.source.is_sound() != Some(true) {
                continue;
            }
            for cursor in std::iter::once(place).chain(cursors) {
                for edits in work.thoughts(cursor) {
                    looked_at += 1;
                    let said = || format!("{} with {seed} at {cursor}: {edits:?}", path.display());
                    if !leaves_sound(&work.source, &edits) {
                        broken.push(said());
                    }
                    if work.source.language() == Language::Python {
                        let after = edits.apply(work.source.text()).to_string();
                        python.push([work.source.content().to_owned(), after]);
                    }
                }
            }
        }
    }
    println!("{looked_at} suggestions, {} of them in Python", python.len());
    assert!(broken.is_empty(), "{} of {looked_at} are broken:\n{}", broken.len(), broken.join("\n"));
    python_agrees(&python);
}

/// Asks Python itself, where there is one, about texts before and after.
fn python_agrees(texts: &[[String; 2]]) {
    const CHECK: &str = "
import json, sys, warnings
warnings.simplefilter('ignore')
def ok(text):
    try:
        compile(text, 'x', 'exec', dont_inherit=True)
        return True
    except (SyntaxError, ValueError):
        return False
for at, (before, after) in enumerate(json.load(sys.stdin)):
    if ok(before) and not ok(after):
        print(at)
";
    let started =
        Command::new("python3").args(["-c", CHECK]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut python) = started else { return println!("skipped: there is no Python") };
    let mut input = python.stdin.take().expect("it has an input");
    let sent = serde_json::to_vec(texts).expect("texts are JSON");
    let writer = std::thread::spawn(move || input.write_all(&sent));
    let output = python.wait_with_output().expect("it ends");
    writer.join().expect("it is sent").expect("it is taken");
    let broken: Vec<usize> =
        String::from_utf8_lossy(&output.stdout).lines().filter_map(|line| line.parse().ok()).collect();
    let first = broken.first().map(|at| {
        let [before, after] = &texts[*at];
        let differ = before.lines().zip(after.lines()).position(|(a, b)| a != b).unwrap_or(0);
        let part =
            |text: &str| text.lines().skip(differ.saturating_sub(3)).take(8).collect::<Vec<_>>().join("\n");
        format!("{}\n----\n{}", part(before), part(after))
    });
    assert!(
        broken.is_empty(),
        "{} of {} do not compile, the first:\n{}",
        broken.len(),
        texts.len(),
        first.unwrap_or_default()
    );
}
