//! Search and replace in documents that are not open.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::script::{Answers, Editor, question};

const OPEN: &str = "untitled:1";

fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// What a search and replace in this file comes to, in an editor that works in this folder.
async fn replaced(folder: &Path, file: &Path) -> Value {
    let replace = json!([{
        "suggestionId": "1", "kind": "searchAndReplace", "uri": uri(file), "search": "ö", "replace": "oe",
        "_meta": { "nudge": { "reason": "because" } },
    }]);
    let form = json!({ "workspace": { "workspaceEdit": { "documentChanges": true } } });
    let folders = json!([{ "uri": uri(folder), "name": "w" }]);
    let initialize = json!({ "capabilities": form, "workspaceFolders": folders });
    let mut editor = Editor::new(initialize, replace, Answers::AtOnce).await;
    editor.open(OPEN, "x").await;
    editor.ask("nudge/suggest", &question(OPEN)).await["suggestions"][0]["edit"].clone()
}

#[tokio::test]
async fn it_works_below_the_folders_of_the_workspace_and_nowhere_else() {
    let place = tempfile::tempdir().unwrap();
    let (inside, outside) = (place.path().join("w"), place.path().join("w2"));
    for folder in [&inside, &outside] {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("a.txt"), "a\n🙂ö, ö\n").unwrap();
    }
    let edit = replaced(&inside, &inside.join("a.txt")).await;
    let at = |from: u32| {
        let range =
            json!({ "start": { "line": 1, "character": from }, "end": { "line": 1, "character": from + 1 } });
        json!({ "range": range, "newText": "oe" })
    };
    let document = json!({ "uri": uri(&inside.join("a.txt")), "version": null });
    assert_eq!(edit, json!({ "documentChanges": [{ "textDocument": document, "edits": [at(2), at(5)] }] }));
    assert_eq!(replaced(&inside, &outside.join("a.txt")).await, Value::Null);
    assert_eq!(replaced(&inside, &inside.join("b.txt")).await, Value::Null);
}
