//! A client that makes one edit and takes every next edit it is offered.
//!
//! `cargo run --example next_edit -- AGENT [ARGUMENT]...`, such as `target/debug/nudge acp`

use std::env;

use nudge_peer::{CallError, ChildProgram, Peer};
use nudge_text::{Edit, Edits, Encoding, Point, Text, diff};
use nudge_wire::{
    acp::{ProtocolVersion, v1::InitializeRequest},
    document::{ContentChange, DidChange, DidOpen},
    nes::{Position, Range, v1},
};

const FILE: &str = "file:///shop/basket.py";
const BEFORE: &str = "\
def price(basket, rate):
    total = 0
    for item in basket:
        total += item.price * item.count
    if total > 100:
        total -= discount(total, rate)
    return total


def show(basket):
    print(\"to pay:\", price(basket, 0.1))
";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = env::args().skip(1);
    let Some(agent) = args.next() else { return Err("usage: next_edit AGENT [ARGUMENT]...".into()) };
    let connection = Peer::client().connect(ChildProgram::new(agent).args(args))?;
    let talk = connection.run_until(async |agent| {
        agent.request(InitializeRequest::new(ProtocolVersion::V1)).await?;
        let session = agent.request(v1::StartRequest::default()).await?.session_id;
        agent.notify(DidOpen::new(session.clone(), FILE, "python", 1, BEFORE)).await?;
        let mut text = Text::new(BEFORE);
        // What the user does: `total` becomes `amount`, where it is declared.
        let at = BEFORE.find("total").unwrap_or(0);
        let mut next = Some(("you".to_owned(), Edits::one(at..at + "total".len(), "amount")));
        let mut version = 1;
        while let Some((who, edits)) = next {
            let after = edits.apply(&text);
            println!("{who}:\n{}", changed_lines(&text, &after));
            version += 1;
            agent.notify(DidChange::new(session.clone(), FILE, version, changes(&text, &edits))).await?;
            let end = edits
                .iter()
                .last()
                .map_or(0, |edit| edits.map(edit.range.end, nudge_text::InsertBias::After));
            text = after;
            let ask = v1::SuggestRequest::new(
                session.clone(),
                FILE,
                version,
                position(&text, end),
                v1::TriggerKind::Automatic,
            );
            next = agent.request(ask).await?.suggestions.into_iter().find_map(|found| taken(&text, found));
        }
        Ok::<_, CallError>(())
    });
    Ok(talk.await?)
}

/// The edits of a suggestion and who makes it.
fn taken(text: &Text, suggestion: v1::Suggestion) -> Option<(String, Edits)> {
    let v1::Suggestion::Edit(edit) = suggestion else { return None };
    let offset = |at: &Position| text.offset(Point::new(at.line, at.character), Encoding::Utf16);
    let one = |edit: &v1::TextEdit| {
        Edit::new(offset(&edit.range.start)..offset(&edit.range.end), edit.new_text.clone())
    };
    let edits = Edits::new(edit.edits.iter().map(one).collect()).ok()?;
    let said = edit.meta.as_ref().and_then(|meta| meta.get("nudge")).cloned().unwrap_or_default();
    Some((
        format!(
            "nudge ({} % sure) {}",
            (said["confidence"].as_f64()? * 100.0).round(),
            said["reason"].as_str()?
        ),
        edits,
    ))
}

/// From the last to the first, so that the earlier places stay where they are.
fn changes(text: &Text, edits: &Edits) -> Vec<ContentChange> {
    let one = |edit: &Edit| {
        let mut change = ContentChange::new(edit.text.clone());
        change.range = Some(Range::new(position(text, edit.range.start), position(text, edit.range.end)));
        change
    };
    edits.iter().rev().map(one).collect()
}

fn position(text: &Text, offset: usize) -> Position {
    let point = text.point(offset, Encoding::Utf16);
    Position::new(point.line, point.character)
}

fn changed_lines(before: &Text, after: &Text) -> String {
    let unified = diff::unified(before, after, "basket.py", 0);
    let lines: Vec<&str> =
        unified.lines().filter(|line| !line.starts_with("---") && !line.starts_with("+++")).collect();
    format!("  {}\n", lines.join("\n  "))
}
