//! Diffs: v1 shows a file's text before and after, v2 lists what happened to files and may add a patch.

use crate::{
    content::text_item,
    object::{JsonObject, items, list, quote},
    patch::{self, FileFate, PatchSection},
};

/// A v2 diff as v1 content: a diff for each hunk of its patch, and words for what has no hunk.
pub(crate) fn to_v1(diff: &str) -> Vec<String> {
    let Some(object) = JsonObject::read(diff) else { return vec![diff.to_owned()] };
    let patch = object.get("patch").and_then(JsonObject::read).unwrap_or_default();
    let text = patch.string("text").unwrap_or_default();
    let git = patch.is("format", "git_patch");
    let mut sections = if git { patch::parse(&text) } else { Vec::new() };
    let mut shown = Vec::new();
    for change in object.get("changes").and_then(items).unwrap_or_default() {
        change_to_v1(change, &mut sections, &mut shown);
    }
    for section in &sections {
        let file = section.new.as_ref().or(section.old.as_ref()).map_or("", String::as_str);
        shown.extend(hunks(section, file, None));
    }
    if !git && !text.is_empty() {
        shown.push(text_item(&fenced("diff", &text)).text());
    }
    if let (Some(meta), Some(first)) = (object.value("_meta"), shown.first_mut()) {
        *first = with_meta(first, meta);
    }
    shown
}

/// A v1 diff as a v2 diff with a patch; relative paths are in `cwd`.
pub(crate) fn to_v2(mut object: JsonObject<'_>, cwd: Option<&str>) -> String {
    let Some(path) = object.string("path").map(|path| absolute(&path, cwd)) else {
        return object.text();
    };
    let old = object.string("oldText");
    let new = object.string("newText").unwrap_or_default();
    let starts = object.recall_string("hunk").and_then(|header| patch::starts(&header)).unwrap_or((1, 1));
    let change = object.recall("change").unwrap_or_else(|| {
        let operation = if old.is_none() { "add" } else { "modify" };
        let change = JsonObject::default().with_str("operation", operation).with_str("path", &path);
        change.with_str("fileType", "text").text()
    });
    let whole = match JsonObject::read(&change).and_then(|change| change.string("operation")).as_deref() {
        Some("add") if old.is_none() => FileFate::Added,
        Some("delete") => FileFate::Deleted,
        _ => FileFate::Kept,
    };
    object.remove(&["path", "oldText", "newText"]);
    object.set("changes", list([change]));
    let starts = (starts.0.max(1), starts.1.max(1));
    if let Some(text) = patch::make(&path, whole, &old.unwrap_or_default(), &new, starts) {
        let git = JsonObject::default().with_str("format", "git_patch").with_str("text", &text);
        object.set("patch", git.text());
    }
    object.text()
}

/// The change that words in v1 stand for, as the v2 diff it came from.
pub(crate) fn change_to_v2(change: &str) -> String {
    JsonObject::default().with_str("type", "diff").with("changes", list([change])).text()
}

/// The path as it is from `/`.
pub(crate) fn absolute(path: &str, cwd: Option<&str>) -> String {
    let drive = path.as_bytes().get(1) == Some(&b':') || path.starts_with('\\');
    match cwd {
        Some(cwd) if !path.starts_with('/') && !drive => {
            format!("{}/{}", cwd.trim_end_matches('/'), path.trim_start_matches("./"))
        }
        _ => path.to_owned(),
    }
}

/// Text as a block of code that it cannot end.
pub(crate) fn fenced(language: &str, text: &str) -> String {
    let (mut longest, mut run) = (0, 0);
    for byte in text.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}")
}

fn change_to_v1(change: &str, sections: &mut Vec<PatchSection>, shown: &mut Vec<String>) {
    let object = JsonObject::read(change).unwrap_or_default();
    let path = object.string("path").unwrap_or_default();
    let (mine, others) = std::mem::take(sections).into_iter().partition(|section| is_of(section, &path));
    *sections = others;
    let parts: Vec<String> =
        mine.iter().flat_map(|section: &PatchSection| hunks(section, &path, Some(change))).collect();
    let moves = object.get("oldPath").is_some();
    if moves || parts.is_empty() {
        let mut item = text_item(&in_words(&object, &path));
        item.note("change", change);
        shown.push(item.text());
    }
    shown.extend(parts);
}

/// Whether the section is about the file at `path`. Patches made with git's own prefixes count too.
fn is_of(section: &PatchSection, path: &str) -> bool {
    let same = |side: &Option<String>, prefix: &str| {
        side.as_deref().is_some_and(|side| {
            side == path
                || side.strip_prefix(prefix).is_some_and(|side| {
                    path.strip_suffix(side).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
                })
        })
    };
    match &section.new {
        Some(_) => same(&section.new, "b/"),
        None => same(&section.old, "a/"),
    }
}

fn hunks<'a>(
    section: &'a PatchSection,
    path: &'a str,
    change: Option<&'a str>,
) -> impl Iterator<Item = String> + 'a {
    section.hunks.iter().map(move |hunk| {
        let old = if section.old.is_none() { "null".to_owned() } else { quote(&hunk.old) };
        let mut item = JsonObject::default().with_str("type", "diff").with_str("path", path);
        item.set("oldText", old);
        item.put("newText", &hunk.new);
        item.note("hunk", &quote(&hunk.header));
        if let Some(change) = change {
            item.note("change", change);
        }
        item.text()
    })
}

fn in_words(change: &JsonObject<'_>, path: &str) -> String {
    let operation = change.string("operation").unwrap_or_default();
    let from = change.string("oldPath");
    let what = match change.string("fileType").as_deref() {
        None | Some("text") => String::new(),
        Some(kind) => format!("{kind} "),
    };
    match (operation.as_str(), from) {
        ("add", _) => format!("Added {what}{path}"),
        ("delete", _) => format!("Deleted {what}{path}"),
        ("modify", _) => format!("Changed {what}{path}"),
        ("move", Some(from)) => format!("Moved {what}{from} to {path}"),
        ("copy", Some(from)) => format!("Copied {what}{from} to {path}"),
        (other, _) => format!("{other} {what}{path}"),
    }
}

/// The item with the members of `meta` that it does not have itself.
fn with_meta(item: &str, meta: &str) -> String {
    let (Some(mut object), Some(mut merged)) = (JsonObject::read(item), JsonObject::read(meta)) else {
        return item.to_owned();
    };
    if let Some(own) =
        object.get("_meta").and_then(JsonObject::read).and_then(|own| own.get("nudge").map(str::to_owned))
    {
        merged.set("nudge", own);
    }
    object.set("_meta", merged.text());
    object.text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_made_absolute() {
        assert_eq!(absolute("./a/b", Some("/w/")), "/w/a/b");
        assert_eq!(absolute("/a", Some("/w")), "/a");
        assert_eq!(absolute("C:\\a", Some("/w")), "C:\\a");
        assert_eq!(absolute("a", None), "a");
    }

    #[test]
    fn text_cannot_end_its_fence() {
        assert_eq!(fenced("x", "a"), "```x\na\n```");
        assert_eq!(fenced("x", "a ```` b\n"), "`````x\na ```` b\n`````");
    }
}
