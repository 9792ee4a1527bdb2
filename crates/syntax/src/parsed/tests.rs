//! Whatever is typed where, pieces say what the whole would have said.

use nudge_text::{Edit, Edits, Text};

use super::{ParsedText, StaleTree};
use crate::{Language, NodePath, patience::ParseWatch};

/// A language, and an item with `№` for a number.
const ITEMS: &[(Language, &str)] = &[
    (
        Language::Rust,
        "/// Does №.\n#[inline]\npub fn work_№(items: &[u64]) -> u64 {\n    let total_№ = items.iter().sum();\n    \
         if total_№ > № {\n        return №;\n    }\n    total_№\n}\n\nconst C_№: &str = \"a№\";\n\n",
    ),
    (
        Language::TypeScript,
        "// About №.\nexport function work№(items: number[]) {\n  const total = items.length + №\n  \
         return `${total}`\n}\nlet a№ = b№\nconst f№ = (x: number) => x * №\n\n",
    ),
    (
        Language::JavaScript,
        "// About №.\nfunction work№(items) {\n  const total = items.length + №\n  return [total]\n}\nlet a№ = b№\nf№(1)\n\n",
    ),
    (
        Language::Python,
        "# About.\n@decorated\ndef work_№(items):\n    total = len(items) + №\n    if total:\n        return [№]\n    \
         return total\n\n\nVALUE_№ = work_№(\n    №,\n)\n\n",
    ),
    (
        Language::Go,
        "// Work№ works.\nfunc Work№(items []int) int {\n\ttotal := len(items) + №\n\treturn total\n}\n\nvar v№ = Work№(nil)\n\n",
    ),
    (
        Language::Java,
        "// Has №.\nclass Work№ {\n  int size№ = №;\n  int work(int more) {\n    return size№ + more;\n  }\n}\n\n",
    ),
    (
        Language::C,
        "/* Number №. */\nstatic int work_№(int more) {\n  int size = № + more;\n  return size;\n}\nint v_№ = №;\n#define M_№ №\n\n",
    ),
    (
        Language::Cpp,
        "// Number №.\nstruct Work№ {\n  int size = №;\n};\nstatic int work№(int more) {\n  return № + more;\n}\n\n",
    ),
    (
        Language::CSharp,
        "// Has №.\nclass Work№ {\n  int size№ = №;\n  int Work(int more) => size№ + more;\n}\n\n",
    ),
    (Language::Toml, "# About №.\n[work.a№]\nsize = №\nname = \"a№\"\nlist = [\n  №,\n]\n\n"),
    (
        Language::Css,
        "/* Has №. */\n.a№, #b№ > a {\n  width: №px;\n  color: red;\n}\n\n@media print {\n  p { top: № }\n}\n",
    ),
];

/// What is typed, in the order in which chance picks it.
const SEEDS: u64 = 4;
const TYPED: &[&str] = &[
    "x",
    "1",
    " ",
    "\n",
    "\n\n",
    "(",
    ")",
    "{",
    "}",
    "\"",
    "'",
    ";",
    ",",
    "//",
    "/*",
    "*/",
    "#",
    "`",
    "=",
    "+",
    ".",
    "_",
    "    ",
    "else",
    "if x",
    "fn y() {}\n",
    "let z = 1;\n",
    "(b)\n",
    ": int",
    "return",
    "é",
    "\\",
    "[1]",
    "true",
    "int",
    "async",
    "r",
    "name_2",
    "@a\n",
    "\r\n",
];

struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % bound.max(1)
    }
}

/// The kinds and ranges on the way to a place.
fn way(parsed: &ParsedText, offset: usize) -> Vec<(&str, &str, std::ops::Range<usize>)> {
    let path = NodePath::at(parsed, offset);
    path.steps().iter().map(|step| (step.node.kind(), step.field, step.node.byte_range())).collect()
}

/// Types for a while; how often a piece was enough.
fn type_into(language: Language, item: &str, seed: u64, rounds: usize) -> usize {
    let mut content = String::new();
    for number in 0.. {
        content.push_str(&item.replace('№', &number.to_string()));
        if content.len() > super::MIN_PIECEWISE + 1024 {
            break;
        }
    }
    let mut chance = Chance(seed);
    let original = Text::new(&content);
    let first = ParsedText::new(language, &content, &ParseWatch::new(&|| true)).expect("there is a grammar");
    let (mut text, mut parsed) = (original.clone(), first.clone());
    let (mut place, mut enough) = (0, 0);
    for round in 0..rounds {
        if round % 12 == 0 {
            (text, parsed) = (original.clone(), first.clone());
            place = chance.below(content.len());
        }
        if chance.below(4) == 0 {
            place = (place + chance.below(900)).saturating_sub(450);
        }
        let start = text.floor(place.min(text.len()));
        let end = if chance.below(3) == 0 { text.floor(start + chance.below(9)) } else { start };
        let edits = Edits::from(Edit::new(start..end, TYPED[chance.below(TYPED.len())]));
        let mut stale = StaleTree::new(&parsed);
        stale.edit(&text, &edits);
        let before = (text.clone(), parsed);
        text = edits.apply(&text);
        place = start + 1;
        let now = text.to_string();
        let pieces = stale.by_pieces(language, &text, &ParseWatch::new(&|| true));
        let is_enough = pieces.is_some();
        parsed = pieces
            .or_else(|| stale.as_whole(language, &now, &ParseWatch::new(&|| true)))
            .expect("there is a grammar");
        enough += usize::from(is_enough);
        let whole = ParsedText::new(language, &now, &ParseWatch::new(&|| true)).expect("there is a grammar");
        if is_enough {
            compare(&parsed, &whole, &now, start, language);
        }
        // What is broken is mostly taken back, or soon nothing would be whole.
        if whole.has_error() && chance.below(4) > 0 {
            (text, parsed) = before;
        }
    }
    enough
}

fn compare(parsed: &ParsedText, whole: &ParsedText, now: &str, place: usize, language: Language) {
    let near = &now[now.floor_char_boundary(place.saturating_sub(120))..now.ceil_char_boundary(place + 120)];
    assert_eq!(parsed.has_error(), whole.has_error(), "{language:?} near {near:?}");
    // Where something is broken, the parser says one thing of a text that it has read before and another of a new one.
    if whole.has_error() {
        return;
    }
    for offset in (0..400).map(|at| (place + at).saturating_sub(200)).chain((0..now.len()).step_by(97)) {
        assert_eq!(way(parsed, offset), way(whole, offset), "{language:?} at {offset}, near {near:?}");
    }
}

#[test]
fn pieces_agree_with_the_whole() {
    for (language, item) in ITEMS {
        let enough: usize = (0..SEEDS).map(|seed| type_into(*language, item, seed, 60)).sum();
        // Otherwise nothing was compared.
        assert!(enough > 2, "a piece was enough only {enough} times in {language:?}");
    }
}

#[test]
fn a_comment_may_end_beyond_the_piece() {
    let item = "/* № */\nint work_№(int *more) {\n  return № + 2 * *more;\n}\n\nint v_№ = №;\n\n";
    let content: String = (0..400).map(|number| item.replace('№', &number.to_string())).collect();
    let text = Text::new(&content);
    let parsed =
        ParsedText::new(Language::C, &content, &ParseWatch::new(&|| true)).expect("there is a grammar");
    let after = |place: &str, typed: &str| {
        let at = content.find(place).expect("it is there");
        let edits = Edits::from(Edit::new(at..at + 1, typed));
        let mut stale = StaleTree::new(&parsed);
        stale.edit(&text, &edits);
        stale.by_pieces(Language::C, &edits.apply(&text), &ParseWatch::new(&|| true))
    };
    assert!(after("+ 2 * *more;\n}\n\nint v_200", "-").is_some());
    // `200 /* 2 * *more` would be a division.
    assert!(after("+ 2 * *more;\n}\n\nint v_200", "/*").is_none());
}
