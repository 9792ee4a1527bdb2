//! What was rejected does not come back, and nothing else is held back with it.

use nudge_predict::{
    EngineSuggestion, FeedbackMemory, SuggestTrigger, SuggestionEffect, SuggestionFeedback, SuggestionKind,
    consider,
};
use nudge_syntax::AnalysedDocument;
use nudge_text::{Edit, Edits, Text};

use crate::moment::{LOOP, Moment, renaming};

#[test]
fn a_rejected_suggestion_does_not_come_back() {
    let mut moment = renaming();
    let refused = moment.first();
    moment.memory.feedback(&refused, SuggestionFeedback::Rejected);
    let again = moment.ask().suggestions;
    assert!(again.iter().all(|found| found.kind != refused.kind), "{again:?}");
}

/// Refuses the first suggestion of a moment, does this, and asks at the end of the document and at each place of what was
/// refused, unasked and asked: none of its lines is touched.
fn check_refused(mut moment: Moment, then: impl Fn(Moment) -> Moment) {
    let refused = moment.first();
    let SuggestionKind::Edit { edits, .. } = &refused.kind else { panic!("an edit") };
    let words: Vec<String> =
        edits.iter().map(|edit| moment.source.text().slice(edit.range.clone()).into_owned()).collect();
    let counts =
        |text: &str| words.iter().map(|word| text.matches(word.as_str()).count()).collect::<Vec<_>>();
    moment.memory.feedback(&refused, SuggestionFeedback::Rejected);
    let mut moment = then(moment);
    let there = counts(moment.source.content());
    let places = words.iter().flat_map(|word| moment.source.content().match_indices(word.as_str()));
    let mut places: Vec<usize> = places.map(|(at, _)| at).collect();
    places.push(moment.source.content().len());
    for place in places {
        moment.cursor = place;
        for trigger in [SuggestTrigger::Automatic, SuggestTrigger::Manual] {
            moment.trigger = trigger;
            for text in moment.outcomes() {
                assert_eq!(counts(&text), there, "{text}");
            }
        }
    }
}

#[test]
fn a_rejected_suggestion_does_not_come_back_when_lines_have_moved() {
    check_refused(renaming(), |moment| moment.insert("", "# a line on top\n"));
    check_refused(renaming(), |moment| moment.insert("    print", "    log(xs)\n"));
}

#[test]
fn a_rejected_suggestion_does_not_come_back_when_the_line_above_is_edited() {
    let started = || Moment::new("a.py", LOOP).edit("total", 0, "amount");
    check_refused(started(), |moment| moment.edit("in xs:", 0, "in xs:  # loop"));
    check_refused(started(), |moment| moment.edit("for x in xs:\n", 0, "for x in sorted(xs):\n"));
}

#[test]
fn a_rejected_suggestion_does_not_come_back_when_its_line_is_edited_elsewhere() {
    let started = || Moment::new("a.py", LOOP).edit("total", 0, "amount");
    check_refused(started(), |moment| moment.edit("+= x", 0, "+= x * 2"));
    check_refused(started(), |moment| {
        moment.edit("print(", 0, "log.info(").edit("return ", 0, "return 2 * ")
    });
    // Close to it, and on both sides at one time.
    check_refused(started(), |moment| moment.insert(")\n    return", ", x"));
    check_refused(started(), |moment| moment.edit("print(total)", 0, "show(total, x)"));
}

#[test]
fn a_rejected_suggestion_does_not_come_back_when_its_place_is_as_it_was_again() {
    let started = || Moment::new("a.py", LOOP).edit("total", 0, "amount");
    check_refused(started(), |moment| moment.edit("total +=", 0, "tota +=").edit("tota +=", 0, "total +="));
    let line = "        total += x\n";
    check_refused(started(), |moment| moment.edit(line, 0, "").insert("    print", line));
    // The document is read anew, with something else on top.
    check_refused(started(), |mut moment| {
        let text = format!("# top\n{}", moment.source.content().replace("print(", "log("));
        moment.source = AnalysedDocument::new("a.py".into(), moment.source.language(), Text::new(&text));
        moment
    });
}

/// What was refused is left out of what would be done with it, and the rest is still done.
#[test]
fn a_rejected_suggestion_does_not_come_back_in_a_larger_one() {
    let text = "fn f() {\n    log(one);\n    rest();\n    log(two);\n    rest();\n}\n";
    let mut moment = Moment::new("a.rs", text).edit("log(one)", 0, "trace(one)");
    let refused = moment.first();
    moment.memory.feedback(&refused, SuggestionFeedback::Rejected);
    moment = moment.insert("    rest();\n}", "    log(three);\n");
    for place in ["trace(one)", "rest()", "log(two)"] {
        moment.cursor = moment.source.content().find(place).expect("it is there");
        for text in moment.outcomes() {
            assert!(text.contains("log(two)"), "{text}");
        }
    }

    let mut moment = Moment::new("a.py", LOOP).edit("total", 0, "amount");
    let all = moment.first();
    let SuggestionKind::Edit { uri, edits, cursor } = &all.kind else { panic!("an edit") };
    assert_eq!(edits.len(), 3, "{edits:?}");
    // Of the three lines only the one in the middle is refused.
    let kind =
        SuggestionKind::Edit { uri: uri.clone(), edits: edits.as_slice()[1].clone().into(), cursor: *cursor };
    let effect = SuggestionEffect::of(&kind, |_| Some(moment.source.text()));
    moment.memory.feedback(&EngineSuggestion { kind, effect, ..all.clone() }, SuggestionFeedback::Rejected);
    let texts = moment.outcomes();
    assert!(texts.iter().all(|text| text.contains("print(total)")), "{texts:?}");
    for other in ["amount += x", "return amount"] {
        assert!(texts.iter().any(|text| text.contains(other)), "{texts:?}");
    }
}

#[test]
fn a_rejected_suggestion_does_not_come_back_as_another_kind() {
    let text = "def f(xs):\n    total = 0\n    for x in xs:\n        total += x\n        total -= 1\n    print(total)\n    return total\n";
    let is_edit = |found: &&EngineSuggestion| matches!(found.kind, SuggestionKind::Edit { .. });
    // The declaration is renamed, or a use of it: then search and replace is offered, or a rename.
    for number in [0, 1] {
        let start = || Moment::new("a.py", text).edit("total", number, "amount");
        let found = start().ask().suggestions;
        let edit = found.iter().find(is_edit).expect("an edit");
        let other = found.iter().find(|found| !is_edit(found)).expect("another kind");
        let mut moment = start();
        moment.memory.feedback(edit, SuggestionFeedback::Rejected);
        let found = moment.ask_for(consider).suggestions;
        assert!(found.iter().all(|found| is_edit(&found)), "{found:?}");
        let mut moment = start();
        moment.memory.feedback(other, SuggestionFeedback::Rejected);
        for text in moment.outcomes() {
            assert_eq!(text.matches("total").count(), 4, "{text}");
        }
    }
}

/// The same elsewhere is less likely then, but not refused.
#[test]
fn the_same_at_another_place_may_still_come() {
    let text = "fn f() {\n    log(one);\n    rest();\n    log(two);\n    rest();\n    more();\n    log(two);\n    rest();\n}\n";
    let mut moment = Moment::new("a.rs", text).edit("log(one)", 0, "trace(one)");
    let refused = moment.first();
    let SuggestionKind::Edit { edits, .. } = &refused.kind else { panic!("an edit") };
    let first = text.find("log(two)").expect("it is there");
    assert!(edits.as_slice()[0].range.start < first + 12, "{edits:?}");
    moment.memory.feedback(&refused, SuggestionFeedback::Rejected);
    moment.cursor = moment.source.content().rfind("log(two)").expect("it is there");
    let texts = moment.outcomes();
    assert!(texts.iter().any(|text| text.matches("trace(two)").count() == 1), "{texts:?}");
    assert!(texts.iter().all(|text| text.find("trace(two)") > text.find("more()")), "{texts:?}");
}

/// The text without its marks `⟨old→new⟩`, and the edits that they are.
fn marked(text: &str) -> (Text, Edits) {
    let (mut plain, mut edits) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some((before, mark)) = rest.split_once('⟨') {
        let (inside, after) = mark.split_once('⟩').expect("a mark is closed");
        let (old, new) = inside.split_once('→').expect("a mark has an arrow");
        plain.push_str(before);
        edits.push(Edit::new(plain.len()..plain.len() + old.len(), new));
        plain.push_str(old);
        rest = after;
    }
    plain.push_str(rest);
    (Text::from(plain), Edits::new(edits).expect("marks follow each other"))
}

/// Whether what is marked in the last text is refused after what is marked in the first was, and the document became the
/// others one after the other.
fn is_refused(texts: &[&str]) -> bool {
    let shown = |text: &str| {
        let (text, edits) = marked(text);
        let kind = SuggestionKind::Edit { uri: "a".into(), edits, cursor: 0 };
        let effect = SuggestionEffect::of(&kind, |_| Some(&text));
        (text, EngineSuggestion { kind, effect, ..renaming().first() })
    };
    let mut memory = FeedbackMemory::default();
    memory.feedback(&shown(texts[0]).1, SuggestionFeedback::Rejected);
    for text in &texts[1..texts.len() - 1] {
        memory.follow("a", &shown(text).0);
    }
    memory.refuses(&shown(texts[texts.len() - 1]).1.effect)
}

#[test]
fn a_refusal_is_about_a_place_and_what_would_be_put_there() {
    let first = "go(x)\nprint(⟨total→amount⟩)\nend()\n";
    let refused = [
        first,
        "go(y, z)\nprint(⟨total→amount⟩)\nend()\n",
        "go(x)\n\n\nlog(⟨total→amount⟩, 1)\n",
        "go(x)\n⟨print(total)→print(amount)⟩\nend()\n",
        "go(x)\n⟨print(total)\nend()→print(amount)\nfinish()⟩\n",
        "go(x)\n⟨print→log⟩(⟨total→amount⟩)\nend()\n",
        "⟨go→come⟩(x)\nprint(⟨total→amount⟩)\n",
    ];
    for text in refused {
        assert!(is_refused(&[first, text]), "{text}");
    }
    let others = [
        "go(x)\nprint(⟨total→sum⟩)\nend()\n",
        "go(x)\nprint(⟨count→amount⟩)\nend()\n",
        "go(x)\n⟨print→log⟩(total)\nend()\n",
        "go(x)\nprint(total, ⟨total→amount⟩)\nend()\n",
        "go(x)\nprint(total)\nend()\ngo(x)\nprint(⟨total→amount⟩)\nend()\n",
        "go(x)\nend()\nprint(⟨total→amount⟩)\n",
    ];
    for text in others {
        assert!(!is_refused(&[first, text]), "{text}");
    }
    // Away and back again.
    assert!(is_refused(&[first, "go(x)\nprint(tot)\nend()\n", first]));
    assert!(is_refused(&[first, "go(x)\nprint(other)\nend()\n", first]));
    assert!(is_refused(&[first, "go(x)\nend()\n", "go(y)\nend()\n", first]));
}

#[test]
fn a_refusal_of_two_pieces_of_a_line_is_one() {
    let first = "a = ⟨→wrap(⟩value⟨→)⟩\n";
    assert!(is_refused(&[first, "b = ⟨→wrap(⟩value⟨→)⟩\n"]));
    assert!(!is_refused(&[first, "a = ⟨→pack(⟩value⟨→)⟩\n"]), "a piece in common is not the same");
}

#[test]
fn a_refused_insertion_is_about_what_is_before_it() {
    let first = "x = 1⟨→;⟩\n";
    for text in ["x = 1⟨→;⟩ // note\n", "let x = 1⟨→;⟩\n", "y();\nx = 1⟨→;⟩\n"] {
        assert!(is_refused(&[first, text]), "{text}");
    }
    for text in ["x = 1 + 2⟨→;⟩\n", "x = 1\ny = 1⟨→;⟩\n", "x = 1⟨→,⟩\n"] {
        assert!(!is_refused(&[first, text]), "{text}");
    }
    let first = "a\n⟨→new\n⟩b\nc\n";
    for text in ["a\nmine\n⟨→new\n⟩b\nc\n", "a\n⟨→new\n⟩mine\nb\nc\n"] {
        assert!(is_refused(&[first, text]), "{text}");
    }
    for text in ["a\nb\n⟨→new\n⟩c\n", "a\n⟨→old\n⟩b\nc\n"] {
        assert!(!is_refused(&[first, text]), "{text}");
    }
}

/// A document in which the next edit is far away.
fn far_away() -> Moment {
    let lines = "x = 1\n".repeat(100);
    let text = format!("def area(w, h):\n    return w * h\n\n{lines}\nprint(area(1, 2))\n");
    let mut moment = Moment::new("a.py", &text).edit("area", 0, "surface");
    moment.visible = Some(0..200);
    moment
}

#[test]
fn the_way_to_an_edit_comes_once() {
    let mut moment = far_away();
    let jump = moment.first();
    let SuggestionKind::Jump { offset, .. } = jump.kind else { panic!("a jump") };
    // The user has gone there; the editor did not tell what is seen since.
    moment.cursor = offset;
    let there = moment.ask().suggestions;
    assert!(matches!(there.first().map(|found| &found.kind), Some(SuggestionKind::Edit { .. })), "{there:?}");
    assert!(there.iter().all(|found| !matches!(found.kind, SuggestionKind::Jump { .. })), "{there:?}");
}

#[test]
fn a_rejected_jump_does_not_come_back() {
    let mut moment = far_away();
    let jump = moment.first();
    moment.memory.feedback(&jump, SuggestionFeedback::Rejected);
    moment = moment.insert("x = 1", "# here\n");
    let again = moment.ask_for(consider).suggestions;
    assert!(again.iter().any(|found| matches!(found.kind, SuggestionKind::Edit { .. })), "{again:?}");
    assert!(again.iter().all(|found| !matches!(found.kind, SuggestionKind::Jump { .. })), "{again:?}");
}

#[test]
fn many_refusals_are_remembered_and_no_more_than_that() {
    let text = Text::from("call(old)\n".repeat(2000));
    let mut memory = FeedbackMemory::default();
    let first = Moment::new("a.py", LOOP).edit("total", 0, "amount").first();
    let refused = |line: usize| {
        let at = text.line_end(line) - 4;
        let kind =
            SuggestionKind::Edit { uri: "b.py".into(), edits: Edits::one(at..at + 3, "new"), cursor: 0 };
        EngineSuggestion { effect: SuggestionEffect::of(&kind, |_| Some(&text)), kind, ..first.clone() }
    };
    for line in 0..2000 {
        memory.feedback(&refused(line), SuggestionFeedback::Rejected);
    }
    let known = (0..2000).filter(|line| memory.refuses(&refused(*line).effect)).count();
    assert_eq!(known, 512);
    assert!(memory.refuses(&refused(1999).effect));
}

/// Two lines are refused together; the user then goes to one of them.
#[test]
fn a_part_of_a_rejected_suggestion_does_not_come_back() {
    let text = "fn f() {\n    log(one);\n    rest();\n    log(two);\n    log(three);\n    rest();\n}\n";
    let mut moment = Moment::new("a.rs", text).edit("log(one)", 0, "trace(one)");
    let refused = moment.first();
    let SuggestionKind::Edit { edits, .. } = &refused.kind else { panic!("an edit") };
    assert_eq!(edits.len(), 2, "{edits:?}");
    moment.memory.feedback(&refused, SuggestionFeedback::Rejected);
    for place in ["log(two)", "log(three)"] {
        moment.cursor = moment.source.content().find(place).expect("it is there");
        for text in moment.texts() {
            assert!(text.contains("log(two)") && text.contains("log(three)"), "{text}");
        }
    }
}

#[test]
fn an_ignored_suggestion_is_only_trusted_less() {
    let mut moment = renaming();
    let ignored = moment.first();
    moment.memory.feedback(&ignored, SuggestionFeedback::Ignored);
    let again = moment.first();
    assert_eq!(again.kind, ignored.kind);
    assert!(again.confidence < ignored.confidence);
}

#[test]
fn a_replaced_or_cancelled_suggestion_teaches_nothing() {
    let mut moment = renaming();
    let shown = moment.first();
    for feedback in [SuggestionFeedback::Replaced, SuggestionFeedback::Cancelled] {
        moment.memory.feedback(&shown, feedback);
    }
    assert!((moment.first().confidence - shown.confidence).abs() < f32::EPSILON);
}

/// Whoever takes a suggestion and undoes it has refused it.
#[test]
fn what_was_undone_does_not_come_back() {
    let mut moment = renaming();
    let taken = moment.first();
    let SuggestionKind::Edit { edits, .. } = &taken.kind else { panic!("an edit") };
    let before = moment.source.clone();
    moment.memory.feedback(&taken, SuggestionFeedback::Accepted);
    let after = before.edited(edits, edits.apply(before.text()));
    moment.memory.changed(before.uri(), before.text(), edits, after.text());
    assert!(moment.memory.has_taken(before.uri()));
    let undo = nudge_text::diff::edits(after.text(), before.text());
    moment.memory.changed(before.uri(), after.text(), &undo, before.text());
    assert!(!moment.memory.has_taken(before.uri()));
    let again = moment.ask().suggestions;
    assert!(again.iter().all(|found| found.kind != taken.kind), "{again:?}");
}

/// What was taken and is long done with is not looked at for ever.
#[test]
fn what_was_taken_is_forgotten() {
    let mut moment = renaming();
    let taken = moment.first();
    moment.memory.feedback(&taken, SuggestionFeedback::Accepted);
    for number in 0..100 {
        let before = moment.source.clone();
        moment = moment.insert("    return", &format!("    log({number})\n"));
        let edits = nudge_text::diff::edits(before.text(), moment.source.text());
        moment.memory.changed(before.uri(), before.text(), &edits, moment.source.text());
    }
    assert!(!moment.memory.has_taken(moment.source.uri()));
}
