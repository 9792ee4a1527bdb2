//! What is put can be listed, read and removed.

use nudge_vault::{KeyCommand, KeyPlace, LoginKey, VaultError, VaultLogin};
use nudge_wire::SecretText;

use crate::{Place, PlayedKeyring, key, login, own_environment};

#[test]
fn a_login_is_kept_and_forgotten() {
    let place = Place::new();
    let vault = place.filed();
    assert!(
        vault.list().unwrap().is_empty() && vault.get("anthropic", &own_environment()).unwrap().is_none()
    );
    let full = VaultLogin {
        base_url: Some("http://127.0.0.1:9/v1".to_owned()),
        api_type: Some("openai".to_owned()),
        ..login("custom", "sk-one")
    };
    vault.put(&full).unwrap();
    vault.put(&login("anthropic", "sk-two")).unwrap();
    let listed = place.filed().list().unwrap();
    let ids: Vec<_> = listed.iter().map(|entry| entry.provider.as_str()).collect();
    assert_eq!(ids, ["anthropic", "custom"]);
    assert_eq!((&listed[1].base_url, &listed[1].api_type), (&full.base_url, &full.api_type));
    assert_eq!(key(&vault, "custom").as_deref(), Some("sk-one"));
    assert_eq!(key(&place.filed(), "anthropic").as_deref(), Some("sk-two"));
    assert_eq!(vault.remove("custom").unwrap().unwrap().left_behind, None);
    assert_eq!((vault.remove("custom").unwrap(), key(&vault, "custom")), (None, None));
    assert_eq!(key(&vault, "anthropic").as_deref(), Some("sk-two"));
    vault.remove("anthropic").unwrap();
    assert!(!place.file("secrets.toml").exists(), "an empty file of keys is none");
}

#[test]
fn a_login_replaces_the_one_before_and_its_key() {
    let place = Place::new();
    let vault = place.filed();
    vault.put(&login("openai", "sk-old")).unwrap();
    vault.put(&login("openai", "sk-new")).unwrap();
    assert_eq!(key(&vault, "openai").as_deref(), Some("sk-new"));
    assert!(!place.text("secrets.toml").contains("sk-old"));
    let without = VaultLogin { key: LoginKey::Nothing, ..login("openai", "") };
    let stored = vault.put(&without).unwrap();
    assert_eq!((stored.key, key(&vault, "openai")), (KeyPlace::Nowhere, None));
    assert!(!place.file("secrets.toml").exists());
}

#[test]
fn whoever_looks_often_sees_a_change() {
    let place = Place::new();
    let (daemon, user) = (place.filed(), place.filed());
    let mut seen = vec![daemon.stamp()];
    user.put(&login("openai", "sk-a")).unwrap();
    seen.push(daemon.stamp());
    user.put(&login("openai", "sk-b")).unwrap();
    seen.push(daemon.stamp());
    assert_eq!(key(&daemon, "openai").as_deref(), Some("sk-b"));
    assert_eq!(daemon.stamp(), seen[2], "reading is no change");
    user.remove("openai").unwrap();
    seen.push(daemon.stamp());
    assert!(seen.windows(2).all(|pair| pair[0] != pair[1]), "{seen:?}");
}

#[test]
fn what_cannot_be_a_key_or_a_provider_is_refused() {
    let place = Place::new();
    let vault = place.filed();
    for bad in ["", "two words", "two\nlines", "ünïcode", "bell\u{7}"] {
        assert!(matches!(vault.put(&login("openai", bad)), Err(VaultError::BadKey)), "{bad:?}");
    }
    for bad in ["", "../x", "A", "a b", "a\"]"] {
        assert!(matches!(vault.put(&login(bad, "sk")), Err(VaultError::BadProvider)), "{bad:?}");
    }
    assert!(vault.list().unwrap().is_empty());
}

#[test]
fn nothing_shows_a_secret() {
    let place = Place::new();
    let vault = place.vault(Some(PlayedKeyring::new()));
    let command = KeyCommand::parse("vault-tool --pin hush-hush").unwrap();
    let by_command = VaultLogin { key: LoginKey::Command(command), ..login("gemini", "") };
    let stored = [vault.put(&login("openai", "hush-hush")).unwrap(), vault.put(&by_command).unwrap()];
    let filed = place.filed().put(&login("azure", "hush-hush")).unwrap();
    let shown = format!(
        "{vault:?} {stored:?} {filed:?} {by_command:?} {:?} {:?} {:?} {} {} {}",
        vault.list().unwrap(),
        login("openai", "hush-hush"),
        SecretText::new("hush-hush"),
        stored[0],
        stored[1],
        filed,
    );
    assert!(!shown.contains("hush"), "{shown}");
    assert!(!place.text("providers.toml").contains("sk-"));
    std::fs::write(place.file("secrets.toml"), "azure = hush-hush\n").unwrap();
    let error = vault.get("azure", &own_environment()).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("hush"), "{error:?}");
}
