//! `nudge sessions export`: a conversation as JSON or Markdown, streamed.

use std::io::{self, BufWriter, Write};

use anyhow::Result;
use nudge_store::{SessionRow, TranscriptPages};
use serde_json::Value;

use super::{
    list,
    render::{ConversationPart, RenderedTranscript},
    store_view::StoreView,
};
use crate::terminal_text;

/// What is written can be shown by `cat`: it is safe for a terminal wherever it goes.
pub(crate) async fn export(store_view: &StoreView, session: &SessionRow, is_json: bool) -> Result<()> {
    let out = &mut BufWriter::new(io::stdout());
    if is_json {
        as_json(store_view, session, out).await
    } else {
        as_markdown(store_view, session, out).await
    }
}

async fn as_json(store_view: &StoreView, session: &SessionRow, out: &mut impl Write) -> Result<()> {
    write!(out, "{{\"session\":{},\"updates\":[", terminal_text::json(&list::info(session).to_string()))?;
    let mut pages = TranscriptPages::new(&*store_view.0, &session.id, 0);
    let mut is_first = true;
    while let Some(page) = pages.next().await? {
        for entry in page {
            out.write_all(if is_first { b"\n" } else { b",\n" })?;
            match std::str::from_utf8(&entry.frame) {
                Ok(frame) => out.write_all(terminal_text::json(frame).as_bytes())?,
                Err(_) => out.write_all(b"null")?,
            }
            is_first = false;
        }
    }
    out.write_all(b"\n]}\n")?;
    Ok(out.flush()?)
}

async fn as_markdown(store_view: &StoreView, session: &SessionRow, out: &mut impl Write) -> Result<()> {
    let title = terminal_text::one_line(session.title.as_deref().unwrap_or("A session"));
    writeln!(out, "# {title}\n")?;
    let mut transcript = RenderedTranscript::default();
    // The tool call that was named last, if nothing came since.
    let mut named = None;
    let mut pages = TranscriptPages::new(&*store_view.0, &session.id, 0);
    while let Some(page) = pages.next().await? {
        for entry in page {
            let Ok(update) = serde_json::from_slice::<Value>(&entry.frame) else { continue };
            for part in transcript.update(&update) {
                let (text, call) = match part {
                    ConversationPart::Call { id, text } => (text, Some(id)),
                    ConversationPart::CallEnded { id, status, .. } if named.as_ref() == Some(&id) => {
                        (status, None)
                    }
                    ConversationPart::Text { text, .. } | ConversationPart::CallEnded { text, .. } => {
                        (text, None)
                    }
                    ConversationPart::Output { .. } => continue,
                };
                out.write_all(terminal_text::lines(&text).as_bytes())?;
                named = call;
            }
        }
    }
    writeln!(out)?;
    Ok(out.flush()?)
}
