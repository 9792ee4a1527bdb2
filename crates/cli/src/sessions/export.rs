//! `nudge sessions export`: a conversation as JSON or Markdown, streamed.

use std::io::{self, BufWriter, Write};

use anyhow::Result;
use nudge_store::{Pages, Session};
use serde_json::Value;

use super::{
    list::{self, Shelf},
    render::Markdown,
};

pub(crate) async fn export(shelf: &Shelf, session: &Session, is_json: bool) -> Result<()> {
    let out = &mut BufWriter::new(io::stdout());
    let written =
        if is_json { as_json(shelf, session, out).await } else { as_markdown(shelf, session, out).await };
    match written {
        // Whoever reads has read enough.
        Err(error)
            if error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe) =>
        {
            Ok(())
        }
        other => other,
    }
}

async fn as_json(shelf: &Shelf, session: &Session, out: &mut impl Write) -> Result<()> {
    write!(out, "{{\"session\":{},\"updates\":[", list::info(session))?;
    let mut pages = Pages::new(&*shelf.0, &session.id, 0);
    let mut is_first = true;
    while let Some(page) = pages.next().await? {
        for entry in page {
            out.write_all(if is_first { b"\n" } else { b",\n" })?;
            out.write_all(&entry.frame)?;
            is_first = false;
        }
    }
    out.write_all(b"\n]}\n")?;
    Ok(out.flush()?)
}

async fn as_markdown(shelf: &Shelf, session: &Session, out: &mut impl Write) -> Result<()> {
    writeln!(out, "# {}\n", session.title.as_deref().unwrap_or("A session"))?;
    let mut markdown = Markdown::default();
    let mut pages = Pages::new(&*shelf.0, &session.id, 0);
    while let Some(page) = pages.next().await? {
        for entry in page {
            if let Ok(update) = serde_json::from_slice::<Value>(&entry.frame) {
                out.write_all(markdown.update(&update).as_bytes())?;
            }
        }
    }
    writeln!(out)?;
    Ok(out.flush()?)
}
