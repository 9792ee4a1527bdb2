//! The bridge between the versions takes any JSON and gives JSON, whatever it has seen before.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nudge_bridge::{
    IndexedUpdate, ToV1, ToV2, V1Client, agent_to_v1, agent_to_v2, prompt_answer, request_to_v1,
    request_to_v2, turn_ended, turn_failed,
};
use nudge_wire::{RawJson, Version, message::ParsedFrame};
use serde_json::value::RawValue;

fuzz_target!(|text: &str| {
    let mut to_v1 = ToV1::new(V1Client::default());
    let mut to_v2 = ToV2::new("m-").with_cwd("/w");
    for line in text.lines().take(16) {
        let Ok(raw) = RawJson::parse(line.to_owned()) else { continue };
        // A whole message, such as the seeds are, or only a part of one.
        let parts = [&["params", "update"][..], &["params"], &["result"], &[]];
        let part = parts.iter().find_map(|path| raw.get(path)).expect("the empty path leads to the whole");
        if let Some(update) = IndexedUpdate::read(&part) {
            check(&update.params_with("s", &update.raw));
        }
        if let ParsedFrame::Single(Ok(message)) = ParsedFrame::from_frame(line.into())
            && let Some(update) = IndexedUpdate::from_message(&message, Version::V2)
        {
            check(&update.raw);
            check(&update.params_with("s", &update.raw));
        }
        session(&part, &mut to_v1, &mut to_v2);
        stateless(&part);
    }
});

fn session(raw: &RawJson, to_v1: &mut ToV1, to_v2: &mut ToV2) {
    for given in to_v1.update(raw) {
        check(&given);
        to_v2.update(&given).iter().for_each(check);
    }
    for given in to_v2.update(raw) {
        check(&given);
        to_v1.update(&given).iter().for_each(check);
    }
    check(&to_v1.permission(&to_v2.permission(raw)));
    check(&to_v2.permission(&to_v1.permission(raw)));
    check(&to_v1.setup(&to_v2.setup(raw).result).result);
    check(&to_v2.setup(&to_v1.setup(raw).result).result);
    check(&to_v1.set_config_option(raw));
    check(&to_v1.config_result(raw));
    let call = to_v2.set_config_option(raw);
    check(&to_v2.config_result(&call, raw));
}

fn stateless(raw: &RawJson) {
    check(&turn_ended(raw));
    check(&turn_failed(raw));
    check(&agent_to_v1(&agent_to_v2(raw)));
    check(&agent_to_v2(&agent_to_v1(raw)));
    check(&ToV1::permission_answer(&ToV2::permission_answer(raw)));
    match prompt_answer(raw) {
        Ok(given) | Err(given) => check(&given),
    }
    for method in [
        "initialize",
        "session/new",
        "session/load",
        "session/resume",
        "session/prompt",
        "elicitation/create",
    ] {
        check(&request_to_v1(method, &request_to_v2(method, raw).params).params);
        check(&request_to_v2(method, &request_to_v1(method, raw).params).params);
    }
}

fn check(given: &RawJson) {
    serde_json::from_str::<&RawValue>(given.as_str()).expect("the bridge makes JSON");
}
