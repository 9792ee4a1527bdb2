//! `nudge logs`: what the daemon has logged.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write},
    os::unix::fs::MetadataExt,
    path::Path,
    process::ExitCode,
    time::Duration,
};

use anyhow::{Context, Result, bail};

use crate::{data_place::DataPlace, output, terminal_text};

/// How much of the end of the log is looked through.
const LOOKED_AT: u64 = 8 * 1024 * 1024;
/// A line that is longer than this is not waited for to end.
const LONGEST_HALF: usize = 64 * 1024;
/// How often it is looked whether there is more.
const PAUSE: Duration = Duration::from_millis(200);

/// Show what the daemon has logged
///
/// How much it logs is set by `NUDGE_LOG` when it is started: `NUDGE_LOG=info nudge daemon`, or for the editor that starts it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nudge logs           the last 100 lines
  nudge logs -n 0      all of it
  nudge logs -f        and what comes; Ctrl-C ends it")]
pub(crate) struct LogsArgs {
    /// Go on with what comes
    #[arg(short, long)]
    follow: bool,
    /// How many of the last lines; 0 for all
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 100)]
    lines: usize,
}

pub(crate) fn run(args: &LogsArgs, place: &DataPlace) -> Result<ExitCode> {
    let Some(path) = place.log_file() else {
        bail!("there is no data folder, so there is no daemon that logs; name one with --data");
    };
    let mut log = match File::open(&path) {
        Ok(file) => BufReader::new(file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            bail!("there is no log at {}; the daemon begins it when it is started", path.display())
        }
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    show_end(&mut log, args.lines, args.follow)?;
    if !args.follow {
        return Ok(ExitCode::SUCCESS);
    }
    loop {
        std::thread::sleep(PAUSE);
        log = follow(log, &path)?;
    }
}

/// Shows the last lines, and says if there are more. If it goes on, a line that is half written is left for later.
fn show_end(log: &mut BufReader<File>, count: usize, goes_on: bool) -> Result<()> {
    if count == 0 {
        return show_rest(log, goes_on);
    }
    let length = log.get_ref().metadata()?.len();
    log.seek(SeekFrom::Start(length.saturating_sub(LOOKED_AT)))?;
    let mut bytes = Vec::new();
    log.by_ref().take(LOOKED_AT).read_to_end(&mut bytes)?;
    if goes_on {
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        go_back(log, bytes.len() - whole)?;
        bytes.truncate(whole);
    }
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let shown = &lines[lines.len().saturating_sub(count)..];
    if shown.len() < lines.len() || length > LOOKED_AT {
        output::remark(format!("the last {} lines; -n COUNT shows more, -n 0 all", shown.len()));
    }
    let mut out = io::stdout().lock();
    for line in shown {
        writeln!(out, "{}", terminal_text::one_line(line))?;
    }
    Ok(())
}

/// Shows all that is not read yet; if it goes on, a line that is half written is left for later.
fn show_rest(log: &mut BufReader<File>, goes_on: bool) -> Result<()> {
    let mut out = io::stdout().lock();
    let mut line = Vec::new();
    while log.read_until(b'\n', &mut line)? > 0 {
        if goes_on && !line.ends_with(b"\n") && line.len() < LONGEST_HALF {
            go_back(log, line.len())?;
            break;
        }
        let text = String::from_utf8_lossy(&line);
        writeln!(out, "{}", terminal_text::one_line(text.trim_end_matches(['\n', '\r'])))?;
        line.clear();
    }
    Ok(out.flush()?)
}

fn go_back(log: &mut BufReader<File>, bytes: usize) -> io::Result<()> {
    log.seek_relative(-i64::try_from(bytes).expect("it was read into memory"))
}

/// Shows what has come; the log may have been begun anew.
fn follow(mut log: BufReader<File>, path: &Path) -> Result<BufReader<File>> {
    show_rest(&mut log, true)?;
    let Ok(now) = path.metadata() else { return Ok(log) };
    let open = log.get_ref().metadata()?;
    if now.ino() != open.ino() {
        // What was half written stays so.
        show_rest(&mut log, false)?;
        return Ok(BufReader::new(File::open(path)?));
    }
    if now.len() < log.stream_position()? {
        log.rewind()?;
    }
    Ok(log)
}
