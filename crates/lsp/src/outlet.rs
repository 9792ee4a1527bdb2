//! What goes to the editor: the messages of the library, and answers that it cannot write, each as a whole.

use std::io;

use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader,
};

use crate::guard;

/// Writes the messages of both in the order in which they come, until the library has no more.
pub(crate) async fn merge(
    library: impl AsyncRead + Unpin,
    answers: impl AsyncRead + Unpin,
    mut output: impl AsyncWrite + Unpin,
) -> io::Result<()> {
    let mut library = BufReader::with_capacity(64 * 1024, library);
    let mut answers = BufReader::new(answers);
    let mut more_answers = true;
    loop {
        let goes_on = tokio::select! {
            read = library.fill_buf() => {
                read?;
                if !pass_one(&mut library, &mut output).await? {
                    return Ok(());
                }
                true
            }
            read = answers.fill_buf(), if more_answers => {
                read?;
                pass_one(&mut answers, &mut output).await?
            }
        };
        more_answers &= goes_on;
    }
}

/// Passes one message on; whether there was one.
async fn pass_one(
    input: &mut (impl AsyncBufRead + Unpin),
    output: &mut (impl AsyncWrite + Unpin),
) -> io::Result<bool> {
    let Some(length) = guard::header(input).await.map_err(io::Error::other)? else { return Ok(false) };
    output.write_all(format!("Content-Length: {length}\r\n\r\n").as_bytes()).await?;
    tokio::io::copy_buf(&mut input.take(length), output).await?;
    output.flush().await?;
    Ok(true)
}
