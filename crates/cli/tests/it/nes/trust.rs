//! What is refused lowers what is shown for a while, and in the next process, and not for good.

use serde_json::json;

use super::{Editor, piece, position};

/// Moments after which something is shown if nothing was learned.
const MOMENTS: usize = 60;

/// A file in which one of four uses of a name is renamed, and what is shown then. Each has names of its own.
fn renamed(editor: &mut Editor, number: usize) -> Option<serde_json::Value> {
    let letter = |at: usize| char::from(b'a' + u8::try_from(number / at % 26).unwrap());
    let name: String = [letter(1), letter(26), 'l', 'l'].into_iter().collect();
    let text = (0..4).map(|at| format!("{name}(item{at});\nrest{at}();\n")).collect::<Vec<_>>().concat();
    let uri = format!("file:///w/{number}.js");
    editor.event("didOpen", &uri, &json!({"languageId": "javascript", "version": 1, "text": text}));
    editor.change(&uri, 2, &piece((0, 0, 0, 0), "more_"));
    let shown = editor.suggest(&uri, 2, &position(0, 9)).into_iter().next();
    editor.event("didClose", &uri, &json!({}));
    shown
}

fn shown(editor: &mut Editor) -> usize {
    (0..MOMENTS).filter(|number| renamed(editor, *number).is_some()).count()
}

#[test]
fn five_rejections_do_not_silence_the_engine() {
    let data = tempfile::tempdir().unwrap();
    let env = [("NUDGE_DATA", data.path().to_str().unwrap())];
    let begin = || Editor::with_env(1, &json!({}), &json!({}), &env);
    let mut editor = begin();
    assert_eq!(shown(&mut editor), MOMENTS);
    // After some were refused it takes a while until one is shown again.
    let mut numbers = 100..400;
    for _ in 0..5 {
        let shown = numbers.find_map(|number| renamed(&mut editor, number)).expect("it is shown again");
        editor.feedback("nes/reject", &shown, &json!({"reason": "rejected"}));
    }
    let close = json!({"sessionId": editor.session});
    editor.request("nes/close", &close);
    editor.finish();
    let mut editor = begin();
    let next = shown(&mut editor);
    editor.finish();
    assert!((MOMENTS / 3..MOMENTS).contains(&next), "{next} of {MOMENTS} in the next process");
}
