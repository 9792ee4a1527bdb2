//! A secret that is looked for, in whatever form.

/// A secret that has in it what has to be escaped, and no shape by which it could be told.
#[derive(Debug, Clone)]
pub(crate) struct PlantedSecret {
    pub(crate) tag: &'static str,
    /// What is plain of it: its two halves.
    halves: [String; 2],
}

impl PlantedSecret {
    pub(crate) fn new(tag: &'static str) -> Self {
        Self { tag, halves: [format!("qv{tag}9XkLmN"), format!("wZ{tag}7RtYpQ")] }
    }

    pub(crate) fn text(&self) -> String {
        self.halves.join("/+\"=")
    }

    /// As it stands in an address.
    pub(crate) fn url_form(&self) -> String {
        self.halves.join("%2F%2B%22%3D")
    }

    /// A file that has it in every form that is taken out.
    pub(crate) fn all_forms(&self) -> String {
        let text = self.text();
        let json = text.replace('"', "\\\"");
        let slashed = json.replace('/', "\\/");
        let coded = ["", "a", "ab"].map(|before| base64(&format!("{before}{text}")));
        let safe = coded[0].replace('+', "-").replace('/', "_");
        format!(
            "exact: {text}\na line\nurl: {}\njson: {{\"key\": \"{json}\"}} \"{slashed}\"\nbase64: {} {} {} {safe}\ntwice: {text}{text}\n",
            self.url_form(),
            coded[0],
            coded[1],
            coded[2],
        )
    }

    /// Neither half is there, plain or as base64, wherever it would begin.
    #[track_caller]
    pub(crate) fn check_absent(&self, what: &str, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        for half in &self.halves {
            let coded = ["", "a", "ab"].map(|before| {
                let text = base64(&format!("{before}{half}"));
                // What stands before and behind it changes the edges.
                text[2 + before.len()..text.len() - 4].to_owned()
            });
            for form in coded.iter().chain([half]) {
                let around = text
                    .find(form.as_str())
                    .map(|at| &text[text.floor_char_boundary(at.saturating_sub(200))..at + form.len()]);
                assert!(around.is_none(), "{} as {form} in {what}: {around:?}", self.tag);
            }
        }
    }
}

fn base64(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut coded = String::new();
    for bytes in text.as_bytes().chunks(3) {
        let number =
            (0..3).fold(0, |number, at| number << 8 | usize::from(bytes.get(at).copied().unwrap_or(0)));
        let digits = (0..4).map(|at| char::from(DIGITS[number >> (18 - 6 * at) & 63]));
        coded.extend(digits.take(bytes.len() + 1));
        coded.extend(std::iter::repeat_n('=', 3 - bytes.len()));
    }
    coded
}

#[test]
fn a_secret_is_found_in_the_file_that_has_it() {
    let secret = PlantedSecret::new("Tst");
    assert_eq!(base64("Man is"), "TWFuIGlz");
    for line in secret.all_forms().lines().filter(|line| *line != "a line") {
        let found = std::panic::catch_unwind(|| secret.check_absent("a line", line.as_bytes()));
        assert!(found.is_err(), "{line}");
    }
}
