//! What is told of a panic: where it was, and as much of its words as cannot have come from anybody.
//!
//! Many panics quote what was being handled, a text that was cut in the wrong place for one, and that may hold a key.

use std::{
    any::Any,
    backtrace::{Backtrace, BacktraceStatus},
    fmt::Write as _,
    io::Write as _,
    panic::PanicHookInfo,
};

use nudge_wire::mask;

/// Before what is quoted in words that were put together when the panic came.
const QUOTES: [char; 4] = [':', '`', '"', '\''];

/// From now on panics of this process are told so.
pub(crate) fn install() {
    std::panic::set_hook(Box::new(|panic| {
        // Nobody may read it.
        let _ = std::io::stderr().write_all(report(panic).as_bytes());
    }));
}

fn report(panic: &PanicHookInfo<'_>) -> String {
    let thread = std::thread::current();
    let thread = thread.name().unwrap_or("without a name");
    let place = panic.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    let mut report = format!("\nthread '{thread}' panicked at {place}:\n{}\n", words(panic.payload()));
    // It has names of functions and no values. The environment says whether it is wanted.
    let trace = Backtrace::capture();
    if trace.status() == BacktraceStatus::Captured {
        let _ = writeln!(report, "{trace}");
    }
    report
}

/// The words of a panic: all of them if they stand in the program, and else those before what they quote.
fn words(payload: &dyn Any) -> String {
    if let Some(written) = payload.downcast_ref::<&'static str>() {
        return (*written).to_owned();
    }
    let Some(composed) = payload.downcast_ref::<String>() else { return "without words".to_owned() };
    match composed.find(QUOTES) {
        Some(quote) => {
            let before = mask::text(composed[..quote].trim_end());
            format!("{before} (the rest may quote something secret)")
        }
        None => mask::text(composed).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{UnwindSafe, catch_unwind};

    use super::*;

    const KEY: &str = "qvPlanted9XkLmNäwZ7RtYpQ";

    #[track_caller]
    fn check(expected: &str, panics: impl FnOnce() + UnwindSafe) {
        let payload = catch_unwind(panics).expect_err("it panics");
        let told = words(&*payload);
        assert!(told.starts_with(expected), "{told}");
        assert!(!told.contains("Planted") && !told.contains("RtYpQ"), "{told}");
    }

    fn failed() -> Result<(), &'static str> {
        Err(KEY)
    }

    #[test]
    fn a_panic_tells_no_secret() {
        check("a literal: with a colon", || panic!("a literal: with a colon"));
        check("it cannot be read (", || failed().expect("it cannot be read"));
        check("called (", || failed().unwrap());
        check("assertion (", || assert_eq!(KEY, "another"));
        // `'ä'` begins at the fifteenth byte.
        check("", || drop(KEY[..16].to_owned()));
        check("the key is (", || panic!("the key is `{KEY}`"));
        check("without words", || std::panic::panic_any(KEY.to_owned().into_bytes()));
        check("3 of 4", || panic!("{} of {}", 1 + 2, 4));
    }
}
