//! How long documents are parsed, and what is said of those that could not be.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use nudge_syntax::{AnalysedDocument, Language, ParsePatience};
use nudge_text::{Edits, Text};

/// Lets every parse ask so many times.
struct Asks {
    allowed: usize,
    parses: AtomicUsize,
    asked: AtomicUsize,
}

impl Asks {
    fn new(allowed: usize) -> Arc<Self> {
        Arc::new(Self { allowed, parses: AtomicUsize::new(0), asked: AtomicUsize::new(0) })
    }

    /// How many parses were begun, and how often they asked.
    fn seen(&self) -> (usize, usize) {
        (self.parses.load(Ordering::Relaxed), self.asked.load(Ordering::Relaxed))
    }
}

impl ParsePatience for Asks {
    fn begin(&self) -> Box<dyn Fn() -> bool + '_> {
        self.parses.fetch_add(1, Ordering::Relaxed);
        let most = self.asked.load(Ordering::Relaxed) + self.allowed;
        Box::new(move || self.asked.fetch_add(1, Ordering::Relaxed) < most)
    }
}

/// Go that does not parse, in so many lines.
fn broken(lines: usize) -> String {
    let head = "package main\n\nfunc main( {\n";
    let body = (0..lines)
        .map(|line| format!("\tif value{line} := call{line}(a[{line}], \"b\"; value{line} > 1 {{\n"));
    head.to_owned() + &body.collect::<Vec<_>>().concat()
}

fn source(name: &str, text: &str) -> AnalysedDocument {
    AnalysedDocument::new(name.into(), Language::of(None, name), Text::new(text))
}

#[test]
fn a_parse_ends_where_it_may_not_go_on() {
    let document = source("a.go", &broken(3000));
    let patience = Asks::new(20);
    let asked = document.within(patience.clone());
    assert_eq!(asked.is_sound(), None);
    assert!(asked.gave_up());
    assert_eq!(patience.seen(), (1, 21));
    // It is not tried again for the same question, but is for another.
    assert_eq!(asked.is_sound(), None);
    assert_eq!(patience.seen(), (1, 21));
    let patience = Asks::new(usize::MAX / 2);
    let again = document.within(patience.clone());
    assert_eq!((again.is_sound(), again.gave_up()), (Some(false), false));
    assert!(patience.seen().1 > 1000, "{:?}", patience.seen());
    // What was found out is there for everybody.
    assert_eq!(asked.is_sound(), Some(false));
    assert_eq!(document.is_sound(), Some(false));
}

#[test]
fn what_is_short_is_always_parsed() {
    let asked = source("a.rs", "fn main() {}\n").within(Asks::new(0));
    assert_eq!(asked.is_sound(), Some(true));
}

/// A parse that nobody waits for makes room for one that somebody does, and ends before that begins.
#[test]
fn one_parse_of_a_document_goes_on_at_a_time() {
    let needed = AtomicUsize::new(0);
    let other = source("a.go", &broken(3000));
    other.clone().prepare(&|| needed.fetch_add(1, Ordering::Relaxed) < usize::MAX);
    let document = source("a.go", &broken(3000));
    let (begun, together) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let patience = Asks::new(10);
    let asked = document.within(patience.clone());
    thread::scope(|scope| {
        let ahead = scope.spawn(|| {
            document.prepare(&|| {
                begun.fetch_add(1, Ordering::Relaxed);
                // Until somebody comes it does not come to an end, and then it has long enough to see that.
                while patience.seen().0 == 0 {
                    thread::yield_now();
                }
                together.fetch_add(patience.seen().1, Ordering::Relaxed);
                (0..2000).for_each(|_| thread::yield_now());
                true
            });
        });
        while begun.load(Ordering::Relaxed) == 0 && !ahead.is_finished() {
            thread::yield_now();
        }
        assert_eq!(asked.is_sound(), None);
    });
    assert_eq!(
        (patience.seen(), together.into_inner()),
        ((1, 11), 0),
        "the one is over when the other begins"
    );
    let (begun, needed) = (begun.into_inner(), needed.into_inner());
    assert!(begun < needed / 2, "it was asked {begun} times, and all of it takes {needed}");
}

/// What takes too long is not tried at each pause.
#[test]
fn what_there_was_no_time_for_is_not_parsed_ahead_again() {
    let document = source("a.go", &broken(3000));
    let kept = document.clone();
    let asked = AtomicUsize::new(0);
    let prepare = |source: &AnalysedDocument| source.prepare(&|| asked.fetch_add(1, Ordering::Relaxed) < 20);
    prepare(&kept);
    assert_eq!(asked.load(Ordering::Relaxed), 21);
    prepare(&kept.within(Asks::new(1)));
    assert_eq!(asked.load(Ordering::Relaxed), 21, "it is not begun again");
    let edits = Edits::one(0..0, "// note\n");
    let changed = document.edited(&edits, edits.apply(document.text()));
    prepare(&changed.clone());
    assert_eq!(asked.load(Ordering::Relaxed), 22, "another text is another matter");
}

#[test]
fn nobody_parses_ahead_what_is_not_the_newest() {
    let old = source("a.go", &broken(3000));
    let edits = Edits::one(0..0, "// note\n");
    let new = old.edited(&edits, edits.apply(old.text()));
    let (seen, kept) = (AtomicUsize::new(0), old.clone());
    kept.prepare(&|| seen.fetch_add(1, Ordering::Relaxed) < 1000);
    assert_eq!(seen.into_inner(), 1, "it is given up at once");
    assert_eq!(new.within(Asks::new(0)).is_sound(), None);
}
