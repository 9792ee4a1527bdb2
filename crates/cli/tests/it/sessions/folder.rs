//! The data folder is the user's alone, or it is not used.

use std::{
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt, symlink},
};

use super::Place;

fn mode(place: &Place, mode: u32) {
    fs::set_permissions(place.data.path(), Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_folder_that_others_can_write_in_is_refused() {
    for others in [0o777, 0o1777, 0o770, 0o702] {
        let place = Place::new();
        let planted = place.work.path().join("planted");
        symlink(&planted, place.data.path().join("daemon.log")).unwrap();
        mode(&place, others);
        for daemon in ["on", "off"] {
            let (status, _, errors) = place.start(&["acp"], daemon).finish();
            assert!(!status.success() && errors.contains("chmod 700"), "{others:o} {daemon}: {errors}");
        }
        for command in ["sessions", "status"] {
            let (status, _, errors) = place.start(&[command], "on").finish();
            assert_eq!(status.code(), Some(1), "{command}: {errors}");
            assert!(errors.contains("chmod 700"), "{others:o} {command}: {errors}");
        }
        assert!(!place.data.path().join("sessions.db").exists());
        assert!(!planted.exists());
    }
}

#[test]
fn a_folder_that_others_can_only_look_into_is_used() {
    let place = Place::new();
    mode(&place, 0o755);
    place.shared_client(1);
}

#[test]
fn a_folder_that_is_made_is_for_the_user_alone() {
    let place = Place::new();
    let data = place.data.path().join("new");
    let data = data.to_str().unwrap();
    for daemon in ["on", "off"] {
        let mut process = crate::nudge_with(&["acp"], &[("NUDGE_DATA", data), ("NUDGE_DAEMON", daemon)]);
        crate::ping(&mut process, "1");
        assert!(process.next_json().is_some());
        assert_eq!(fs::metadata(data).unwrap().permissions().mode() & 0o777, 0o700);
        drop(process);
        crate::nudge_with(&["stop"], &[("NUDGE_DATA", data)]).finish();
        fs::remove_dir_all(data).unwrap();
    }
}

#[test]
fn links_in_the_folder_are_not_followed() {
    let place = Place::new();
    let planted = place.work.path().join("planted");
    symlink(&planted, place.data.path().join("daemon.log")).unwrap();
    let (status, _, errors) = place.start(&["acp"], "on").finish();
    assert!(!status.success() && errors.contains("daemon.log is a link"), "{errors}");
    assert!(!planted.exists());
    fs::remove_file(place.data.path().join("daemon.log")).unwrap();
    drop(place.shared_client(1));
    place.command(&["stop"]);
    let lock = place.file("lock");
    fs::remove_file(&lock).unwrap();
    symlink(&planted, &lock).unwrap();
    let (status, _, errors) = place.start(&["acp"], "on").finish();
    assert!(!status.success() && errors.contains(".lock is a link"), "{errors}");
    assert!(!planted.exists());
}
