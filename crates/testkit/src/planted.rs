//! Secrets that are planted by tests, and looked for in whatever form.

/// A secret that has in it what has to be escaped, and no shape by which it could be told.
#[derive(Debug, Clone)]
pub struct PlantedSecret {
    /// Where it was planted.
    pub tag: &'static str,
    /// What is plain of it: its two halves.
    halves: [String; 2],
}

impl PlantedSecret {
    /// One that is planted in this place, whose name has three letters.
    pub fn new(tag: &'static str) -> Self {
        Self { tag, halves: [format!("qv{tag}9XkLmN"), format!("wZ{tag}7RtYpQ")] }
    }

    /// The secret.
    pub fn text(&self) -> String {
        self.halves.join("/+\"=")
    }

    /// As it stands in an address.
    pub fn url_form(&self) -> String {
        self.halves.join("%2F%2B%22%3D")
    }

    /// As base64, behind these characters.
    pub fn base64_form(&self, before: &str) -> String {
        base64(&format!("{before}{}", self.text()))
    }

    /// Every form that is taken out of what is told.
    pub fn forms(&self) -> Vec<String> {
        let text = self.text();
        let json = text.replace('"', "\\\"");
        let slashed = json.replace('/', "\\/");
        let coded = ["", "a", "ab"].map(|before| self.base64_form(before));
        let safe = coded[0].replace('+', "-").replace('/', "_");
        let twice = text.repeat(2);
        [text, self.url_form(), json, slashed, safe, twice].into_iter().chain(coded).collect()
    }

    /// A file that has it in every form.
    pub fn all_forms(&self) -> String {
        format!("exact: {}\na line\nothers: {}\n", self.text(), self.forms().join(" "))
    }

    /// Neither half is there, plain or as base64, wherever it would begin.
    #[track_caller]
    pub fn check_absent(&self, what: &str, bytes: &[u8]) {
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
fn a_secret_is_found_in_every_form_of_it() {
    let secret = PlantedSecret::new("Tst");
    assert_eq!(base64("Man is"), "TWFuIGlz");
    for form in secret.forms() {
        let found = std::panic::catch_unwind(|| secret.check_absent("a line", form.as_bytes()));
        assert!(found.is_err(), "{form}");
    }
}
