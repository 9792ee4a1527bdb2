//! Which session a name means, and that no slip ends or deletes another.

use super::{
    Place,
    commands::{prompted, ran, refused},
};

#[test]
fn no_slip_deletes_a_session() {
    let place = Place::new();
    let mut client = prompted(&place, place.work.path(), "hello");
    client.turn_end(1);
    let own = client.session.strip_prefix("sess_").expect("it is one of ours").to_owned();
    let delete = |name: &str| refused(&place, place.work.path(), &["sessions", "delete", name]);
    for command in
        [&["sessions", "delete", ""][..], &["sessions", "show", ""], &["watch", ""], &["cancel", ""]]
    {
        let errors = refused(&place, place.work.path(), command);
        assert!(errors.contains("an empty name"), "{command:?}: {errors}");
    }
    for name in ["s", "sess", "sess_", &own[..1], &own[..3], &format!("sess_{}", &own[..3])] {
        let errors = delete(name);
        assert!(errors.contains("at least 4 characters"), "{name}: {errors}");
    }
    assert!(ran(&place, place.work.path(), &["sessions", "show", &own[..3]]).0.contains(&own));
    let (out, _) = ran(&place, place.work.path(), &["sessions", "delete", &own[..4]]);
    assert_eq!(out, format!("deleted {}", client.session));
}

#[test]
fn nothing_is_ended_or_taken_back_in_another_project() {
    let place = Place::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let mut client = prompted(&place, place.work.path(), "talk");
    client.said("word");
    for command in [
        &["cancel"][..],
        &["cancel", "last"],
        &["sessions", "delete", "last"],
        &["approve", "last"],
        &["reject", "last"],
        &["answer", "last"],
        &["revoke", "last", "msg_1"],
    ] {
        let errors = refused(&place, elsewhere.path(), command);
        let is_told = errors.contains("name it by its id") && errors.contains(&client.session);
        assert!(is_told, "{command:?}: {errors}");
    }
    ran(&place, elsewhere.path(), &["cancel", &client.session]);
    let (_, errors) = ran(&place, elsewhere.path(), &["queue", "last", "talk"]);
    assert!(errors.contains("this folder has no session"), "{errors}");
}

#[test]
fn a_folder_in_a_project_is_the_project() {
    let place = Place::new();
    let inside = place.work.path().join("src/deep");
    std::fs::create_dir_all(&inside).unwrap();
    let mut outer = prompted(&place, place.work.path(), "run true");
    outer.agent_request();
    // The newest of all is elsewhere.
    let elsewhere = tempfile::tempdir().unwrap();
    prompted(&place, elsewhere.path(), "hello").turn_end(1);
    let (shown, errors) = ran(&place, &inside, &["sessions", "show", "last"]);
    assert!(shown.contains(&outer.session) && errors.is_empty(), "{shown}{errors}");
    let (_, errors) = ran(&place, &inside, &["approve"]);
    assert!(errors.contains(&outer.session), "{errors}");
    outer.turn_end(1);
    let mut inner = prompted(&place, &inside, "run true");
    inner.agent_request();
    outer.prompt("run true");
    outer.agent_request();
    let (_, errors) = ran(&place, &inside, &["approve"]);
    assert!(errors.contains(&inner.session), "the nearest is meant: {errors}");
    inner.turn_end(1);
    ran(&place, &inside, &["reject", &outer.session]);
}
