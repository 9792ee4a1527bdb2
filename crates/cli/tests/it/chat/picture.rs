//! The picture of the README: a turn that is steered, as a terminal shows it. `NUDGE_BLESS=1` draws it anew.

use std::{fmt::Write, fs, path::Path};

use nudge_testkit::Terminal;
use vt100::{Color, Screen};

use super::terminal_of;
use crate::sessions::Place;

const ROWS: u16 = 20;
const COLUMNS: u16 = 78;
/// The size of a letter, and how long each frame is shown, in seconds.
const WIDE: f32 = 8.4;
const HIGH: f32 = 19.0;
const SECONDS: usize = 5;

#[test]
fn the_picture_of_the_readme_is_what_a_terminal_shows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let place = Place::new();
    for file in fs::read_dir(root.join("examples/shop")).expect("the example is there").flatten() {
        fs::copy(file.path(), place.work.path().join(file.file_name())).expect("it can be copied");
    }
    let rehearsal = root.join("examples/chat.toml");
    let env = [("NUDGE_REHEARSAL", rehearsal.to_str().expect("its name is text"))];
    let terminal = terminal_of(&place, &["chat"], &env, (ROWS, COLUMNS));
    terminal.wait_text("○ idle");
    terminal.send("Do what is left to do\r");
    terminal.wait_text("module of its own, and");
    terminal.send("then run the tests\r");
    terminal.wait_text("⧗ queued then run the tests");
    terminal.send("just use round()");
    terminal.wait_text("› just use round()");
    let written = frame(&terminal);
    terminal.send("\x13");
    terminal.wait_text("┃ just use round()");
    terminal.wait_text("who takes the total.");
    let steered = frame(&terminal);
    terminal.wait_text("python3 -m unittest");
    terminal.wait_text("or a number answers");
    terminal.wait_text("◆ waits for you");
    let frames = [written, steered, frame(&terminal)];
    // Where it was drawn is not what it shows either.
    let drawn = svg(&frames).replace(&place.cwd(), "/home/ada/shop");
    let path = root.join("docs/images/chat.svg");
    if std::env::var_os("NUDGE_BLESS").is_some() {
        fs::write(&path, &drawn).expect("the picture can be written");
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == drawn,
        "docs/images/chat.svg is not what is shown; NUDGE_BLESS=1 draws it anew:\n{drawn}"
    );
}

/// The screen as elements of a picture. How long it took is not what it shows.
fn frame(terminal: &Terminal) -> String {
    terminal.look(|screen| {
        let mut out = String::new();
        for row in 0..ROWS {
            let mut column = 0;
            while column < COLUMNS {
                let (text, wide) = piece(screen, row, column);
                if !text.trim().is_empty() {
                    let look = look(screen, row, column);
                    let (x, y) = (f32::from(column).mul_add(WIDE, 16.0), f32::from(row).mul_add(HIGH, 44.0));
                    let _ = writeln!(
                        out,
                        "<text x=\"{x:.1}\" y=\"{y:.1}\"{look}>{}</text>",
                        escaped(&without_time(&text))
                    );
                }
                column += wide;
            }
        }
        out
    })
}

/// The letters from here on that look alike, and how many columns they take up.
fn piece(screen: &Screen, row: u16, column: u16) -> (String, u16) {
    let first = look(screen, row, column);
    let mut text = String::new();
    let mut at = column;
    while at < COLUMNS && look(screen, row, at) == first {
        let letters = screen.cell(row, at).map(|cell| cell.contents().to_owned()).unwrap_or_default();
        text.push_str(if letters.is_empty() { " " } else { &letters });
        at += 1;
    }
    (text.trim_end().to_owned(), at - column)
}

fn look(screen: &Screen, row: u16, column: u16) -> String {
    let Some(cell) = screen.cell(row, column) else { return String::new() };
    let colour = match cell.fgcolor() {
        Color::Idx(1) => Some("#e06c75"),
        Color::Idx(2) => Some("#98c379"),
        Color::Idx(3) => Some("#e5c07b"),
        Color::Idx(4) => Some("#61afef"),
        Color::Idx(6) => Some("#56b6c2"),
        _ if cell.dim() => Some("#8a919e"),
        _ => None,
    };
    let mut look = colour.map(|colour| format!(" style=\"fill:{colour}\"")).unwrap_or_default();
    if cell.bold() {
        look.push_str(" font-weight=\"bold\"");
    }
    look
}

fn without_time(text: &str) -> String {
    match text.strip_prefix("● working ") {
        Some(time) => {
            let rest = time.trim_start_matches(|c: char| c.is_ascii_digit() || c == 'm');
            format!("● working 2{rest}")
        }
        None => text.to_owned(),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn svg(frames: &[String]) -> String {
    let (wide, high) = (f32::from(COLUMNS).mul_add(WIDE, 32.0), f32::from(ROWS).mul_add(HIGH, 44.0));
    let count = frames.len();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {wide:.0} {high:.0}\" role=\"img\" \
         aria-label=\"nudge chat: a turn is steered while a queued message waits\">\n<style>\n\
         text {{ font: 14px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #d7dae0; white-space: pre }}\n\
        .frame {{ opacity: 0; animation: turn {}s step-end infinite }}\n",
        count * SECONDS
    );
    let share = 100 / count;
    let _ = writeln!(out, "@keyframes turn {{ 0% {{ opacity: 1 }} {share}% {{ opacity: 0 }} }}");
    for at in 0..count {
        let _ = writeln!(out, ".f{at} {{ animation-delay: {}s }}", at * SECONDS);
    }
    let _ = writeln!(
        out,
        "@media (prefers-reduced-motion: reduce) {{ .frame {{ animation: none }} .f{} {{ opacity: 1 }} }}\n</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#21252b\"/>\n\
         <circle cx=\"18\" cy=\"16\" r=\"5\" fill=\"#3b4048\"/><circle cx=\"34\" cy=\"16\" r=\"5\" fill=\"#3b4048\"/>\
         <circle cx=\"50\" cy=\"16\" r=\"5\" fill=\"#3b4048\"/>",
        count - 1
    );
    for (at, frame) in frames.iter().enumerate() {
        let _ = writeln!(out, "<g class=\"frame f{at}\">\n{frame}</g>");
    }
    out.push_str("</svg>\n");
    out
}
