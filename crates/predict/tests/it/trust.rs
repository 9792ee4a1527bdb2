//! How much of what the user refuses silences the engine, and for how long.

use nudge_predict::{
    Eagerness, EngineSuggestion, FeedbackMemory, LessonCache, OfferedKinds, Scene, SuggestOutcome,
    SuggestTrigger, SuggestionFeatures, SuggestionFeedback, TrustWeights, suggest,
};
use nudge_syntax::WorkspaceIndex;
use serde_json::json;

use crate::{fixture::memory_with, moment::Moment};

/// How sure a suggestion has to be at the usual eagerness.
const BAR: f32 = 0.56;

/// A rename that may go on, each time of another name.
fn moment(number: usize) -> Moment {
    let letter = |at: usize| char::from(b'a' + u8::try_from(number / at % 26).expect("a letter"));
    let name: String = [letter(1), letter(26), 'l', 'l'].into_iter().collect();
    let text = (0..4).map(|at| format!("{name}(item{at});\nrest{at}();\n")).collect::<Vec<_>>().concat();
    Moment::new("a.js", &text).edit(&name, 0, &format!("more_{name}"))
}

fn ask(moment: &Moment, memory: &FeedbackMemory) -> SuggestOutcome {
    suggest(&Scene {
        source: &moment.source,
        cursor: moment.cursor,
        selection: None,
        visible: None,
        others: &[],
        changes: &moment.changes(),
        diagnostics: &[],
        actions: &[],
        snippets: &[],
        index: &WorkspaceIndex::default(),
        memory,
        lessons: &LessonCache::default(),
        offers: OfferedKinds::default(),
        eagerness: Eagerness::Medium,
        trigger: SuggestTrigger::Automatic,
        cancelled: &|| false,
    })
}

/// In how many of 60 moments something is shown; with what is shown first the user does this.
fn shown(memory: &mut FeedbackMemory, feedback: SuggestionFeedback) -> usize {
    let mut shown = 0;
    for number in 0..60 {
        let outcome = ask(&moment(number), memory);
        if let Some(first) = outcome.suggestions.first() {
            shown += 1;
            memory.feedback(first, feedback);
        } else {
            assert_eq!(outcome.why_nothing, "suggestions of this kind were refused of late");
        }
        memory.recover();
    }
    shown
}

fn refused(times: usize) -> FeedbackMemory {
    let mut memory = FeedbackMemory::default();
    for number in 100..100 + times {
        let found = ask(&moment(number), &FeedbackMemory::default()).suggestions.remove(0);
        memory.feedback(&found, SuggestionFeedback::Rejected);
    }
    memory
}

/// What the next process knows.
fn written_and_read(memory: &FeedbackMemory) -> FeedbackMemory {
    let written = serde_json::to_value(memory.weights()).expect("weights are plain data");
    memory_with(
        serde_json::from_value::<TrustWeights>(written).expect("they are read as they are written").checked(),
    )
}

#[test]
fn what_was_refused_is_shown_less_and_then_again() {
    assert_eq!(shown(&mut FeedbackMemory::default(), SuggestionFeedback::Cancelled), 60);
    let mut memory = refused(5);
    let mut next = written_and_read(&memory);
    let (now, later) =
        (shown(&mut memory, SuggestionFeedback::Cancelled), shown(&mut next, SuggestionFeedback::Cancelled));
    assert!((30..60).contains(&now), "{now} of 60 are shown after five were refused");
    assert!((30..60).contains(&later), "{later} of 60 in the next process");
}

#[test]
fn who_refuses_everything_is_asked_rarely() {
    let shown = shown(&mut FeedbackMemory::default(), SuggestionFeedback::Rejected);
    assert!((3..15).contains(&shown), "{shown} of 60");
}

#[test]
fn who_takes_them_after_all_has_them_all_again() {
    let shown = shown(&mut refused(5), SuggestionFeedback::Accepted);
    assert!(shown >= 30, "{shown} of 60");
}

/// A suggestion with a prior, and how a user judges it who takes so many of a hundred.
fn judged(number: u32, taken: u32, like: &EngineSuggestion) -> (EngineSuggestion, SuggestionFeedback) {
    let mixed = number.wrapping_mul(2_654_435_761) >> 7;
    #[expect(clippy::cast_precision_loss, reason = "there are a thousand priors")]
    let prior = 0.3 + 0.7 * ((mixed % 1000) as f32 / 1000.0);
    let features = SuggestionFeatures { prior, ..like.features };
    let feedback = if (mixed / 1000) % 100 < taken {
        SuggestionFeedback::Accepted
    } else {
        SuggestionFeedback::Rejected
    };
    (EngineSuggestion { features, ..like.clone() }, feedback)
}

/// How many of 3,000 are sure enough, without feedback and with it.
fn sure_enough(taken: u32) -> (usize, usize) {
    let like = moment(0).first();
    let mut memory = FeedbackMemory::default();
    let (mut without, mut with) = (0, 0);
    for number in 0..3000 {
        let (suggestion, feedback) = judged(number, taken, &like);
        without += usize::from(suggestion.features.prior >= BAR);
        if memory.weights().confidence(suggestion.features) >= BAR {
            with += 1;
            // Each is about another place.
            let mut learning = memory_with(memory.weights().clone());
            learning.feedback(&suggestion, feedback);
            memory = learning;
        }
    }
    (without, with)
}

#[test]
fn who_takes_more_than_they_refuse_is_never_left_without() {
    for taken in [55, 60, 70, 90] {
        let (without, with) = sure_enough(taken);
        assert!(with * 100 >= without * 90, "{with} instead of {without} with {taken} of 100 taken");
    }
}

#[test]
fn no_number_of_refusals_silences_what_is_nearly_certain() {
    let (without, with) = sure_enough(0);
    assert!(with * 3 >= without, "{with} instead of {without}");
}

#[test]
fn refusals_are_forgotten_with_time() {
    let features = SuggestionFeatures { prior: 0.7, ..moment(0).first().features };
    let after = |hours: u64| {
        let mut weights = refused(5).weights().clone();
        weights.age(hours);
        weights.confidence(features)
    };
    let (now, day, fortnight) = (after(0), after(24), after(24 * 14));
    assert!(now < BAR && now < day && day < fortnight, "{now} {day} {fortnight}");
    assert!(fortnight > 0.69, "{fortnight}");
    assert!((after(u64::MAX) - 0.7).abs() < 1e-5);
}

/// Earlier versions wrote down three numbers of up to 1.5 each.
#[test]
fn weights_of_earlier_versions_are_read_and_recovered_from() {
    let old = json!({"rename": -1.5, "rename javascript": -1.5, "rename here": -1.5});
    let mut memory = memory_with(serde_json::from_value::<TrustWeights>(old).expect("it is read").checked());
    let features = SuggestionFeatures { prior: 0.7, ..moment(0).first().features };
    assert!(memory.weights().confidence(features) < 0.7, "it is not forgotten at once");
    let shown = shown(&mut memory, SuggestionFeedback::Cancelled);
    assert!((30..60).contains(&shown), "{shown} of 60");
    let wild = json!({"rename": 1e38, "rename javascript": {"taken": -5, "refused": 1e38}, "rename here": {"taken": 1e38, "refused": 1e38}});
    let weights = serde_json::from_value::<TrustWeights>(wild).expect("it is read").checked();
    assert!((0.69..0.9).contains(&weights.confidence(features)), "{}", weights.confidence(features));
}
