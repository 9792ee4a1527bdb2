//! The table of `docs/models.md`, which a test writes and checks.

use std::fmt::Write;

use nudge_model::{ModelProvider, PROVIDERS};

#[test]
fn the_page_of_the_models_is_up_to_date() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/models.md");
    nudge_testkit::check_section(page, "providers", &markdown());
}

/// The table as Markdown.
fn markdown() -> String {
    let mut text =
        "| provider | who it is | key from | address from | address unless another is said | `--api` |\n\
                    | --- | --- | --- | --- | --- | --- |\n"
            .to_owned();
    for provider in PROVIDERS {
        let ModelProvider { id, name, key_variables, address_variables, base_url, .. } = provider;
        let base_url = base_url.map_or("has to be said".to_owned(), |url| format!("`{url}`"));
        let cells = [
            format!("`{id}`"),
            (*name).to_owned(),
            code(key_variables),
            code(address_variables),
            base_url,
            code(&provider.supported()),
        ];
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

fn code(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
