//! Pages that are made in part from what the program says of itself.

use std::{env, fs, path::Path};

/// Checks that a page has this text between the marks `<!-- NAME -->` and `<!-- /NAME -->`. With `NUDGE_BLESS` in the environment
/// it is written there instead.
pub fn check_section(page: impl AsRef<Path>, name: &str, made: &str) {
    let path = page.as_ref();
    let page = fs::read_to_string(path).expect("the page is in the repository");
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let (before, rest) = page.split_once(&begin).expect("it has a mark where the section begins");
    let (_, after) = rest.split_once(&end).expect("it has a mark where the section ends");
    let expected = [before, &begin, made, &end, after].concat();
    if env::var_os("NUDGE_BLESS").is_some() {
        fs::write(path, expected).expect("it can be written");
    } else {
        assert_eq!(page, expected, "run the test with NUDGE_BLESS=1 to write it anew");
    }
}
