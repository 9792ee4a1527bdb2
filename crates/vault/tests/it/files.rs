//! The files: who can open them, who else writes, and what a crash leaves.

use std::{
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt, symlink},
    time::Duration,
};

use nudge_vault::{Vault, VaultError, VaultOptions};

use crate::{Place, key, login, options, own_environment};

fn mode(path: impl AsRef<std::path::Path>) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}

fn chmod(path: impl AsRef<std::path::Path>, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
}

#[test]
fn only_the_user_can_open_them() {
    let place = Place::new();
    place.filed().put(&login("openai", "sk-mine")).unwrap();
    assert_eq!(mode(place.folder()), 0o700);
    for name in place.names() {
        assert_eq!(mode(place.file(&name)), 0o600, "{name}");
    }
}

#[test]
fn a_file_that_others_can_open_is_refused() {
    for name in ["secrets.toml", "providers.toml"] {
        for open in [0o640, 0o604, 0o620, 0o644] {
            let place = Place::new();
            let vault = place.filed();
            vault.put(&login("openai", "sk-mine")).unwrap();
            chmod(place.file(name), open);
            let error = vault.get("openai", &own_environment()).unwrap_err();
            assert!(matches!(error, VaultError::OpenFile(_)), "{open:o}: {error}");
            assert!(error.to_string().contains("chmod 600"), "{error}");
            assert!(vault.put(&login("openai", "sk-more")).is_err(), "nothing is added to it");
            chmod(place.file(name), 0o600);
            assert_eq!(key(&vault, "openai").as_deref(), Some("sk-mine"));
        }
    }
}

#[test]
fn a_folder_that_others_can_write_in_is_refused() {
    let place = Place::new();
    let vault = place.filed();
    vault.put(&login("openai", "sk-mine")).unwrap();
    chmod(place.folder(), 0o770);
    assert!(matches!(vault.get("openai", &own_environment()), Err(VaultError::OpenFolder(_))));
    assert!(matches!(vault.put(&login("openai", "sk")), Err(VaultError::OpenFolder(_))));
    chmod(place.folder(), 0o755);
    assert_eq!(key(&vault, "openai").as_deref(), Some("sk-mine"), "others may look at names");
}

#[test]
fn links_and_what_is_no_file_are_refused() {
    let place = Place::new();
    let vault = place.filed();
    vault.put(&login("openai", "sk-mine")).unwrap();
    let elsewhere = place.dir.path().join("elsewhere");
    for name in ["secrets.toml", "providers.toml"] {
        fs::rename(place.file(name), &elsewhere).unwrap();
        symlink(&elsewhere, place.file(name)).unwrap();
        let error = vault.get("openai", &own_environment()).unwrap_err();
        assert!(matches!(&error, VaultError::Link(path) if path.ends_with(name)), "{error}");
        assert!(vault.put(&login("openai", "sk-more")).is_err());
        fs::remove_file(place.file(name)).unwrap();
        fs::create_dir(place.file(name)).unwrap();
        assert!(matches!(
            vault.get("openai", &own_environment()),
            Err(VaultError::OfAnotherKind(_) | VaultError::OpenFile(_))
        ));
        fs::remove_dir(place.file(name)).unwrap();
        fs::rename(&elsewhere, place.file(name)).unwrap();
    }
    assert_eq!(key(&vault, "openai").as_deref(), Some("sk-mine"));
}

#[test]
fn what_is_not_ours_is_refused() {
    let place = Place::new();
    let vault = place.filed();
    vault.put(&login("openai", "sk-mine")).unwrap();
    // Only root can give a file away.
    if std::os::unix::fs::chown(place.file("secrets.toml"), Some(12_345), None).is_err() {
        return nudge_testkit::skipped("a file cannot be given to another user");
    }
    let error = vault.get("openai", &own_environment()).unwrap_err();
    assert!(matches!(error, VaultError::OfAnotherUser(_)), "{error}");
}

#[test]
fn what_is_damaged_is_told_and_not_quoted() {
    let place = Place::new();
    let vault = place.filed();
    vault.put(&login("openai", "sk-mine")).unwrap();
    for damage in ["sk-mine = = =", "openai = 3", "\u{0}"] {
        fs::write(place.file("secrets.toml"), damage).unwrap();
        let error = vault.get("openai", &own_environment()).unwrap_err().to_string();
        assert!(error.contains("secrets.toml") && !error.contains("sk-mine"), "{error}");
    }
}

#[test]
fn all_who_write_at_once_are_heard() {
    let place = Place::new();
    std::thread::scope(|scope| {
        for number in 0..12 {
            let place = &place;
            scope.spawn(move || {
                let vault = place.filed();
                for round in 0..4 {
                    vault.put(&login(&format!("p{number}"), &format!("sk-{number}-{round}"))).unwrap();
                }
                if number % 3 == 0 {
                    vault.remove(&format!("p{number}")).unwrap();
                }
            });
        }
        // Whoever reads meanwhile sees a key whole, or none yet.
        let vault = place.filed();
        for _ in 0..200 {
            let found = key(&vault, "p1");
            assert!(found.as_deref().is_none_or(|key| key.starts_with("sk-1-")), "{found:?}");
        }
    });
    let vault = place.filed();
    for number in 0..12 {
        let expected = (number % 3 != 0).then(|| format!("sk-{number}-3"));
        assert_eq!(key(&vault, &format!("p{number}")), expected);
    }
    assert_eq!(place.text("secrets.toml").matches("sk-").count(), 8, "no key is left over");
}

#[test]
fn somebody_who_does_not_let_go_is_not_waited_for_forever() {
    let place = Place::new();
    place.filed().put(&login("openai", "sk-mine")).unwrap();
    let held = fs::File::open(place.file(".providers.lock")).unwrap();
    held.lock().unwrap();
    let hasty = VaultOptions { keyring: None, lock_limit: Duration::from_millis(50), ..options() };
    let vault = Vault::open(place.folder(), hasty);
    assert!(matches!(vault.put(&login("openai", "sk-more")), Err(VaultError::Busy(_))));
    assert_eq!(key(&vault, "openai").as_deref(), Some("sk-mine"), "reading needs no lock");
}

#[test]
fn what_a_crash_leaves_is_removed_by_the_next_who_writes() {
    let place = Place::new();
    let vault = place.filed();
    vault.put(&login("openai", "sk-mine")).unwrap();
    // Died before a file was put in its place.
    for name in [".secrets.toml.unfinished", ".providers.toml.unfinished"] {
        fs::write(place.file(name), "openai-1 = \"sk-lost\"\n").unwrap();
    }
    // Died between the file of keys and that of providers.
    let secrets = place.text("secrets.toml");
    fs::write(place.file("secrets.toml"), format!("{secrets}openai-2 = \"sk-orphan\"\n")).unwrap();
    assert_eq!(key(&vault, "openai").as_deref(), Some("sk-mine"), "the login before it counts");
    vault.put(&login("gemini", "sk-next")).unwrap();
    assert_eq!(place.names(), [".providers.lock", "providers.toml", "secrets.toml"]);
    let secrets = place.text("secrets.toml");
    assert!(!secrets.contains("sk-orphan") && secrets.matches("sk-").count() == 2);
    assert_eq!(key(&vault, "openai").as_deref(), Some("sk-mine"));
}
