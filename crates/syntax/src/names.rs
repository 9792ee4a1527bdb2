//! Changes that leave a syntax tree as it is: a name becomes another name, a word of a comment another word.
//!
//! Most of what people type is of this sort, and the parser need not be asked about it.

use std::{
    ops::Range,
    sync::{Arc, LazyLock},
};

use nudge_text::{Edit, Text};
use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Tree;

use crate::{
    Language,
    token::{is_word, word_around},
};

/// Types that grammars take for tokens of their own.
const TYPES: &str = "bool byte char char8_t char16_t char32_t char64_t charptr_t decimal double dynamic float int int8_t \
                     int16_t int32_t int64_t intptr_t long max_align_t nint nuint nullptr_t object ptrdiff_t sbyte short \
                     signed size_t ssize_t string uint uint8_t uint16_t uint32_t uint64_t uintptr_t ulong unsigned \
                     ushort void";

/// Words that are values, which grammars have rules of their own for.
const VALUES: &str =
    "None True False true false null nil iota undefined NULL nullptr this self super base Self arguments";

/// In longer lines no word is looked for.
const MAX_LINE: usize = 4 * 1024;

type Keywords = Arc<FxHashSet<String>>;

/// The same edit as one of a whole word, if it makes another word of a word.
pub(super) fn of_word(before: &Text, edit: &Edit) -> Option<Edit> {
    let Range { start, end } = edit.range.clone();
    let line = before.line_of(start);
    let (from, to) = (before.line_start(line), before.line_end(line));
    if end > to || to - from > MAX_LINE || !edit.text.chars().all(is_word) {
        return None;
    }
    let content = before.slice(from..to);
    let (start, end) = (start - from, end - from);
    let old = word_around(&content, start..end);
    let is_one = content[start..end].chars().all(is_word);
    let new = format!("{}{}{}", &content[old.start..start], edit.text, &content[end..old.end]);
    let is_word = is_one && !old.is_empty() && !new.is_empty();
    is_word.then(|| Edit::new(from + old.start..from + old.end, new))
}

/// Whether a tree is right though the word at a range is another one than when it was made; it was moved to fit.
pub(super) fn are_kept(tree: &Tree, language: Language, text: &Text, word: &Range<usize>) -> bool {
    let Some(leaf) = tree.root_node().descendant_for_byte_range(word.start, word.end) else { return false };
    let kind = leaf.kind();
    if kind.contains("comment") || ["string_content", "string_fragment"].contains(&kind) {
        return leaf.child_count() == 0 && leaf.start_byte() < word.start && word.end <= leaf.end_byte();
    }
    // What stands before a string may become a part of it.
    let joins = |c: char| ['"', '\'', '`', '#'].contains(&c);
    let behind = text.slice(word.end..text.floor(word.end + 4));
    let name = text.slice(word.clone());
    kind.contains("identifier")
        && leaf.byte_range() == *word
        && !leaf.is_missing()
        && !behind.starts_with(joins)
        && is_name(language, &name)
}

/// Whether a word can only be a name.
fn is_name(language: Language, word: &str) -> bool {
    static KEYWORDS: LazyLock<Mutex<FxHashMap<Language, Keywords>>> = LazyLock::new(Mutex::default);
    let mut known = KEYWORDS.lock();
    let keywords = Arc::clone(known.entry(language).or_insert_with(|| Arc::new(keywords(language))));
    drop(known);
    let is_plain = word.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
    is_plain && !word.starts_with(|c: char| c.is_ascii_digit()) && !keywords.contains(word)
}

/// The words that mean something to a grammar.
fn keywords(language: Language) -> FxHashSet<String> {
    let mut words: FxHashSet<String> =
        [TYPES, VALUES].into_iter().flat_map(str::split_whitespace).map(str::to_owned).collect();
    if let Some(grammar) = language.grammar() {
        let ids = (0..grammar.node_kind_count()).filter_map(|id| u16::try_from(id).ok());
        let literal = ids.filter(|id| !grammar.node_kind_is_named(*id));
        let kinds = literal.filter_map(|id| grammar.node_kind_for_id(id));
        words.extend(kinds.filter(|kind| kind.chars().all(is_word)).map(str::to_owned));
    }
    words
}
