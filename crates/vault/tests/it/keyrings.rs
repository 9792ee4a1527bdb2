//! Keyrings that keep, refuse and hang.

use std::time::{Duration, Instant};

use nudge_vault::{KeyPlace, KeyringFault, Vault, VaultError, VaultOptions};

use crate::{Place, PlayedKeyring, key, login, options, own_environment};

#[test]
fn a_keyring_that_works_gets_the_key() {
    let (place, keyring) = (Place::new(), PlayedKeyring::new());
    let vault = place.vault(Some(keyring.clone()));
    let stored = vault.put(&login("openai", "sk-ring")).unwrap();
    assert_eq!((stored.key.clone(), stored.keyring_fault.clone()), (KeyPlace::Keyring, None));
    assert_eq!(stored.to_string(), "the key is kept in the system's keyring");
    assert!(!place.file("secrets.toml").exists() && keyring.count() == 1, "the probe is gone");
    assert_eq!(key(&place.vault(Some(keyring.clone())), "openai").as_deref(), Some("sk-ring"));
    vault.put(&login("openai", "sk-rang")).unwrap();
    assert_eq!((key(&vault, "openai").as_deref(), keyring.count()), (Some("sk-rang"), 1));
    vault.remove("openai").unwrap();
    assert_eq!(keyring.count(), 0);
}

#[test]
fn a_key_of_another_folder_is_another() {
    let (one, two, keyring) = (Place::new(), Place::new(), PlayedKeyring::new());
    one.vault(Some(keyring.clone())).put(&login("openai", "sk-1")).unwrap();
    two.vault(Some(keyring.clone())).put(&login("openai", "sk-2")).unwrap();
    assert_eq!(key(&one.vault(Some(keyring.clone())), "openai").as_deref(), Some("sk-1"));
    two.vault(Some(keyring.clone())).remove("openai").unwrap();
    assert_eq!(key(&one.vault(Some(keyring)), "openai").as_deref(), Some("sk-1"));
}

#[test]
fn without_a_keyring_it_is_a_file_and_that_is_said() {
    for fault in [KeyringFault::Absent, KeyringFault::Locked, KeyringFault::Broken] {
        let (place, keyring) = (Place::new(), PlayedKeyring::with(fault.clone()));
        let vault = place.vault(Some(keyring.clone()));
        let stored = vault.put(&login("openai", "sk-file")).unwrap();
        assert_eq!(stored.keyring_fault.as_ref(), Some(&fault));
        let said = stored.to_string();
        assert!(said.contains("secrets.toml, which only you can read") && said.contains("keyring"), "{said}");
        assert_eq!(key(&vault, "openai").as_deref(), Some("sk-file"));
        let asked = *keyring.asked.lock();
        vault.put(&login("gemini", "sk-file")).unwrap();
        assert_eq!(*keyring.asked.lock(), asked, "it is probed once");
    }
}

#[test]
fn a_keyring_that_hangs_is_given_up_after_two_seconds() {
    let silent = KeyringFault::Silent(Duration::from_secs(2));
    let (place, keyring) = (Place::new(), PlayedKeyring::with(silent.clone()));
    let vault = Vault::open(
        place.folder(),
        VaultOptions { keyring: Some(keyring.clone()), ..VaultOptions::default() },
    );
    let began = Instant::now();
    let stored = vault.put(&login("openai", "sk-slow")).unwrap();
    let took = began.elapsed();
    assert!(took >= Duration::from_secs(2) && took < Duration::from_secs(8), "{took:?}");
    assert_eq!(stored.keyring_fault, Some(silent));
    assert!(stored.to_string().contains("did not answer within 2 s"), "{stored}");
    assert_eq!(key(&vault, "openai").as_deref(), Some("sk-slow"));
    let began = Instant::now();
    vault.put(&login("gemini", "sk-slow")).unwrap();
    assert!(began.elapsed() < Duration::from_secs(2), "nobody waits twice");
}

#[test]
fn a_key_in_a_keyring_that_is_locked_later_is_an_error_that_says_so() {
    let (place, keyring) = (Place::new(), PlayedKeyring::new());
    let patience = VaultOptions {
        keyring: Some(keyring.clone()),
        probe_limit: Duration::from_millis(50),
        read_limit: Duration::from_millis(50),
        ..options()
    };
    let vault = Vault::open(place.folder(), patience);
    vault.put(&login("openai", "sk-ring")).unwrap();
    for fault in [KeyringFault::Locked, KeyringFault::Silent(Duration::from_millis(50))] {
        *keyring.fault.lock() = Some(fault.clone());
        let error = vault.get("openai", &own_environment()).unwrap_err();
        assert!(matches!(&error, VaultError::Keyring(told) if *told == fault), "{error:?}");
        assert!(error.to_string().contains("locked"), "{error}");
    }
    let removed = vault.remove("openai").unwrap().unwrap();
    let (name, _) = removed.left_behind.expect("it cannot be removed there");
    assert!(name.starts_with("openai-"), "{name}");
    assert!(vault.list().unwrap().is_empty(), "it is forgotten here all the same");
}

#[test]
fn a_key_that_the_keyring_has_lost_is_told() {
    let (place, keyring) = (Place::new(), PlayedKeyring::new());
    let vault = place.vault(Some(keyring.clone()));
    vault.put(&login("openai", "sk-ring")).unwrap();
    keyring.secrets.lock().clear();
    let error = vault.get("openai", &own_environment()).unwrap_err().to_string();
    assert!(error.contains("run `nudge login openai` again"), "{error}");
}
