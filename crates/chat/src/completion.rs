//! What may complete the word at the cursor: files behind `@`, commands behind `/`.

use crate::composer::Composer;

/// How many are offered.
pub(crate) const OFFERED: usize = 6;

/// What may stand in the place of the word at the cursor.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Completions {
    /// Where the word begins, in bytes.
    pub(crate) from: usize,
    pub(crate) items: Vec<CompletionItem>,
    pub(crate) selected: usize,
}

/// One way to complete a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CompletionItem {
    pub(crate) text: String,
    pub(crate) about: String,
}

impl Completions {
    /// What completes the word that ends at the cursor; none if it begins with neither mark.
    pub(crate) fn at(
        text: &str,
        cursor: usize,
        commands: &[CompletionItem],
        files: &[String],
    ) -> Option<Self> {
        let before = &text[..cursor];
        let from = before
            .rfind(char::is_whitespace)
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        let word = &before[from..];
        let items = if let Some(wanted) = word.strip_prefix('@') {
            matching(files, wanted)
        } else if from == 0 && word.starts_with('/') {
            commands.iter().filter(|command| command.text.starts_with(word)).take(OFFERED).cloned().collect()
        } else {
            return None;
        };
        let is_done = items.len() == 1 && items[0].text == word;
        (!items.is_empty() && !is_done).then_some(Self { from, items, selected: 0 })
    }

    /// Whether the word is one of them already.
    pub(crate) fn is_written(&self, composer: &Composer) -> bool {
        let word = &composer.text()[self.from..composer.cursor()];
        self.items.iter().any(|item| item.text == word)
    }

    pub(crate) fn select(&mut self, is_down: bool) {
        let count = self.items.len();
        self.selected = (self.selected + if is_down { 1 } else { count - 1 }) % count;
    }

    pub(crate) fn chosen(&self) -> &CompletionItem {
        &self.items[self.selected]
    }
}

/// The files whose path has these letters in this order, the closest first.
fn matching(files: &[String], wanted: &str) -> Vec<CompletionItem> {
    let wanted = wanted.to_lowercase();
    let mut found: Vec<(usize, &String)> =
        files.iter().filter_map(|file| Some((distance(&file.to_lowercase(), &wanted)?, file))).collect();
    found.sort_by_key(|(distance, file)| (*distance, file.len()));
    let items = found.into_iter().take(OFFERED);
    items.map(|(_, file)| CompletionItem { text: format!("@{file}"), about: String::new() }).collect()
}

/// How far a path is from what is wanted, if it has its letters: the name of the file counts more than its folder.
fn distance(path: &str, wanted: &str) -> Option<usize> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if name.starts_with(wanted) {
        return Some(0);
    }
    if path.starts_with(wanted) {
        return Some(1);
    }
    if path.contains(wanted) {
        return Some(2);
    }
    let mut letters = path.chars();
    wanted.chars().all(|c| letters.any(|other| other == c)).then_some(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(text: &str) -> Vec<String> {
        let files = ["src/main.rs", "src/map.rs", "Makefile", "docs/main.md"].map(str::to_owned);
        let command = |text: &str| CompletionItem { text: text.to_owned(), about: String::new() };
        let completions = Completions::at(text, text.len(), &[command("/steer"), command("/stop")], &files);
        completions.map_or_else(Vec::new, |found| found.items.into_iter().map(|item| item.text).collect())
    }

    #[test]
    fn files_and_commands_complete_a_word() {
        assert_eq!(offered("see @ma"), ["@Makefile", "@src/map.rs", "@src/main.rs", "@docs/main.md"]);
        assert_eq!(offered("@smr"), ["@src/map.rs", "@src/main.rs"]);
        assert_eq!(offered("/st"), ["/steer", "/stop"]);
        assert_eq!(offered("/stop"), Vec::<String>::new());
        assert_eq!(offered("a /st"), Vec::<String>::new());
        assert_eq!(offered("a@b"), Vec::<String>::new());
        assert_eq!(offered("漢\u{3000}@Mak"), ["@Makefile"]);
    }
}
