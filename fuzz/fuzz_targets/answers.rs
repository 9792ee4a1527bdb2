//! Answers of providers: any bytes are read, however they are cut, and an answer ends once or not at all.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nudge_model::{AnswerPiece, ApiType, read_answer_body};

fuzz_target!(|body: &[u8]| {
    // The sizes of the parts are taken from the end of the body, so that any text is a seed.
    let knob = |at: usize| body.iter().rev().nth(at).map_or(0, |byte| usize::from(*byte));
    let events = as_events(body);
    for api_type in ApiType::ALL {
        for body in [body, &events] {
            let whole = read_answer_body(api_type, &[body]);
            check(&whole);
            for size in [1, 1 + knob(0)] {
                let parts: Vec<&[u8]> = body.chunks(size).collect();
                assert_eq!(read_answer_body(api_type, &parts), whole, "{api_type:?} in parts of {size}");
            }
        }
    }
});

/// Every line as an event, so that messages are seeds.
fn as_events(body: &[u8]) -> Vec<u8> {
    let lines = body.split(|byte| *byte == b'\n');
    lines.flat_map(|line| [b"data: ", line, b"\n\n"].concat()).collect()
}

fn check((pieces, is_whole): &(Vec<AnswerPiece>, bool)) {
    let is_stop = |piece: &&AnswerPiece| matches!(piece, AnswerPiece::Stop(_));
    let stops = pieces.iter().filter(is_stop).count();
    assert!(stops <= 1, "an answer ends once");
    assert_eq!(stops == 1, pieces.last().as_ref().is_some_and(is_stop), "nothing comes after its end");
    assert!(stops == 1 || !is_whole, "an answer without an end is not whole");
}
