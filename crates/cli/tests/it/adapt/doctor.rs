//! `nudge doctor -- AGENT`.

use super::{Place, agent};

fn doctor(place: &Place, options: &str) -> (Option<i32>, String, String) {
    let program = agent();
    let options = options.replace("COUNT", &place.desk("count"));
    let mut args = vec!["doctor", "--", program.to_str().expect("its name is text")];
    args.extend(options.split_whitespace());
    let (status, lines, errors) = place.nudge(&args, "off").finish();
    (status.code(), lines.join("\n"), errors)
}

#[test]
fn it_shows_what_an_agent_offers() {
    let (code, told, errors) = doctor(&Place::new(), "--load");
    assert_eq!(code, Some(0), "{errors}");
    assert!(told.contains("scripted 1.0 started") && told.contains("a session could be begun"), "{told}");
}

#[test]
fn an_agent_that_does_not_start_is_quoted_once() {
    let (code, told, errors) = doctor(&Place::new(), "--fail-start 9 COUNT");
    assert_eq!((code, &*told), (Some(1), ""));
    assert_eq!(errors.matches("not ready yet").count(), 1, "{errors}");
    assert_eq!(errors.matches("ended").count(), 1, "{errors}");
    assert!(errors.contains("exit status: 3"), "{errors}");
}
