//! Files that cannot be used as they are.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use nudge_store::{StoreError, check, open};

use crate::support::{Place, appends, created, name, seqs, write};

/// A file with a session of some length, closed.
async fn filled(place: &Place) -> PathBuf {
    let store = place.open().await;
    let lease = created(&*store, "s").await;
    for first in (0..20_000).step_by(1_000) {
        write(&*store, &lease, appends(first..first + 1_000)).await.expect("entries");
    }
    store.close().await.expect("it closes");
    place.path()
}

fn patch(path: &Path, at: usize, with: &[u8]) {
    let mut bytes = fs::read(path).expect("the file is there");
    bytes[at..at + with.len()].copy_from_slice(with);
    fs::write(path, bytes).expect("it is written");
}

/// Where SQLite keeps the number of the format.
const VERSION_AT: usize = 60;
const PAGE: usize = 4096;

#[tokio::test]
async fn only_the_owner_may_look() {
    let place = Place::new();
    let store = place.open().await;
    created(&*store, "s").await;
    let directory = place.path().parent().expect("it has one").to_owned();
    assert_eq!(fs::metadata(&directory).expect("there").permissions().mode() & 0o777, 0o700);
    let mut names = Vec::new();
    for file in fs::read_dir(directory).expect("there") {
        let file = file.expect("readable");
        assert_eq!(file.metadata().expect("there").permissions().mode() & 0o777, 0o600, "{file:?}");
        names.push(file.file_name().into_string().expect("text"));
    }
    names.sort();
    assert_eq!(names, ["nudge.db", "nudge.db-shm", "nudge.db-wal", "nudge.db.lock"]);
}

#[tokio::test]
async fn an_empty_file_is_begun() {
    let place = Place::new();
    fs::create_dir(place.path().parent().expect("it has one")).expect("created");
    fs::write(place.path(), "").expect("written");
    created(&*place.open().await, "s").await;
}

#[tokio::test]
async fn a_newer_file_is_refused_and_left_alone() {
    let place = Place::new();
    let path = filled(&place).await;
    patch(&path, VERSION_AT, &77_u32.to_be_bytes());
    let before = fs::read(&path).expect("there");
    let refused = open(&place.url()).await.expect_err("it is newer");
    assert!(matches!(refused, StoreError::Newer { found: 77, known: 1, .. }), "{refused:?}");
    let text = refused.to_string();
    assert!(text.contains("format 77") && text.contains("up to 1") && text.contains("nudge.db"), "{text}");
    assert_eq!(fs::read(&path).expect("there"), before);
}

/// A newer process was killed: what it wrote last is in the log beside the file.
#[tokio::test]
async fn a_newer_file_with_a_log_is_left_alone() {
    let place = Place::new();
    let store = place.open().await;
    created(&*store, "s").await;
    let copy = Place::new();
    fs::create_dir(copy.path().parent().expect("it has one")).expect("created");
    let wal = |path: &Path| PathBuf::from(format!("{}-wal", path.display()));
    fs::copy(place.path(), copy.path()).expect("copied");
    fs::copy(wal(&place.path()), wal(&copy.path())).expect("copied");
    // The number is in the first page, which is in the log; this changes the next process's mind, not the checksum.
    let store = copy.open().await;
    created(&*store, "other").await;
    store.close().await.expect("closed");
    patch(&copy.path(), VERSION_AT, &2_u32.to_be_bytes());
    let before = fs::read(copy.path()).expect("there");
    for _ in 0..2 {
        assert_eq!(name(open(&copy.url()).await.map(drop)), "Newer");
    }
    assert_eq!(fs::read(copy.path()).expect("there"), before);
}

#[tokio::test]
async fn a_database_of_something_else_is_refused_and_left_alone() {
    let place = Place::new();
    let path = filled(&place).await;
    patch(&path, VERSION_AT, &0_u32.to_be_bytes());
    let before = fs::read(&path).expect("there");
    assert_eq!(name(open(&place.url()).await.map(drop)), "Foreign");
    assert_eq!(fs::read(&path).expect("there"), before);
}

#[tokio::test]
async fn a_damaged_file_is_set_aside_and_a_new_one_begun() {
    type Harm = fn(&Path);
    let harms: [(&str, Harm); 5] = [
        ("text", |path| {
            fs::write(path, "this is no database, but it is long enough to be one").expect("written");
        }),
        ("header", |path| patch(path, 0, b"SQLite format 9")),
        ("schema", |path| patch(path, 110, &[0xee; 2000])),
        ("cut", |path| {
            let bytes = fs::read(path).expect("there");
            fs::write(path, &bytes[..bytes.len() / 2]).expect("written");
        }),
        ("first page only", |path| {
            let bytes = fs::read(path).expect("there");
            fs::write(path, &bytes[..PAGE / 2]).expect("written");
        }),
    ];
    for (what, harm) in harms {
        let place = Place::new();
        let path = filled(&place).await;
        harm(&path);
        let harmed = fs::read(&path).expect("there");
        fs::write(format!("{}-wal", path.display()), "a log").expect("written");
        let opened = open(&place.url()).await.unwrap_or_else(|error| panic!("{what}: {error}"));
        let aside = opened.set_aside.unwrap_or_else(|| panic!("{what}: it is set aside"));
        let text = aside.display().to_string();
        assert!(text.starts_with(&format!("{}.corrupt-", path.display())), "{text}");
        assert_eq!(fs::read(&aside).expect("kept"), harmed, "{what}");
        let wal = fs::read(format!("{text}-wal")).expect("the log goes with it");
        assert!(wal.is_empty() || wal == b"a log", "{what}: {} bytes", wal.len());
        created(&*opened.store, "s").await;
        opened.store.close().await.expect("closed");
        assert!(place.open().await.session("s").await.expect("read").is_some(), "{what}");
    }
}

#[tokio::test]
async fn a_damaged_file_in_use_stays() {
    let place = Place::new();
    let path = filled(&place).await;
    let user = place.open().await;
    let good = fs::read(&path).expect("there");
    patch(&path, 0, b"SQLite format 9");
    assert_eq!(name(open(&place.url()).await.map(drop)), "DamagedInUse");
    fs::write(&path, good).expect("written");
    drop(user);
}

/// Damage that shows only when a page is needed: the store says so, and the next start begins anew.
#[tokio::test]
async fn damage_met_in_use_is_set_aside_at_the_next_start() {
    for writes in [true, false] {
        let place = Place::new();
        let path = filled(&place).await;
        let size = fs::metadata(&path).expect("there").len();
        patch(&path, PAGE, &vec![0xab; usize::try_from(size).expect("small") - PAGE]);
        let store = place.open().await;
        let refused = if writes {
            store.acquire("s", "me", 1, 1).await.map(drop)
        } else {
            store.session("s").await.map(drop)
        };
        assert_eq!(name(refused), "Damaged");
        store.close().await.expect("closed");
        let opened = open(&place.url()).await.expect("a new one");
        let aside = opened.set_aside.expect("the damaged one is set aside");
        assert_eq!(fs::metadata(aside).expect("there").len(), size);
        created(&*opened.store, "s").await;
        opened.store.close().await.expect("closed");
        place.open().await;
    }
}

/// The mark of damage is a reason to look, not to throw away.
#[tokio::test]
async fn a_good_file_that_was_marked_stays() {
    let place = Place::new();
    let path = filled(&place).await;
    let mark = PathBuf::from(format!("{}.damaged", path.display()));
    fs::write(&mark, "").expect("written");
    let store = place.open().await;
    assert_eq!(seqs(&*store, "s").await.len(), 4096);
    assert!(!mark.exists());
}

#[tokio::test]
async fn addresses() {
    for url in ["", "sqlite:", "sqlite://", "postgres://host/name"] {
        assert_eq!(name(open(url).await.map(drop)), "BadUrl", "{url}");
    }
    let place = Place::new();
    let path = place.path().display().to_string();
    for url in [path.clone(), format!("sqlite:{path}"), format!("sqlite://{path}")] {
        let store = open(&url).await.expect("it opens").store;
        created(&*store, &url).await;
        assert!(place.open().await.session(&url).await.expect("read").is_some(), "{url}");
    }
}

/// A killed process may leave a change half done that only who may write can undo.
#[tokio::test]
async fn a_change_that_was_cut_off_is_undone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let url = path.to_str().unwrap();
    let opened = nudge_store::open(url).await.unwrap();
    opened.store.close().await.unwrap();

    // The same file in the mode in which it is begun, with a transaction that has reached the disk and is not committed.
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&path);
    let options = options.journal_mode(sqlx::sqlite::SqliteJournalMode::Delete).pragma("cache_size", "1");
    let mut conn = sqlx::ConnectOptions::connect(&options).await.unwrap();
    for sql in ["BEGIN IMMEDIATE", "CREATE TABLE half (done BLOB)"] {
        sqlx::query(sql).execute(&mut conn).await.unwrap();
    }
    for _ in 0..64 {
        sqlx::query("INSERT INTO half VALUES (zeroblob(4000))").execute(&mut conn).await.unwrap();
    }
    let copy = folder.path().join("copy.db");
    std::fs::copy(&path, &copy).unwrap();
    std::fs::copy(folder.path().join("store.db-journal"), folder.path().join("copy.db-journal")).unwrap();
    drop(conn);

    let opened = nudge_store::open(copy.to_str().unwrap()).await.unwrap();
    assert_eq!(opened.set_aside, None);
    assert_eq!(
        opened.store.sessions(&nudge_store::SessionFilter::default(), None, 10).await.unwrap().sessions,
        []
    );
}

#[tokio::test]
async fn a_look_at_a_file_leaves_it_as_it_is() {
    let place = Place::new();
    assert_eq!(check(&place.url()).await.expect("there is none"), 0);
    let path = filled(&place).await;
    let count = check(&place.url()).await.expect("all is well");
    assert!(count > 0);
    let user = place.open().await;
    assert_eq!(check(&place.url()).await.expect("it is in use"), count);
    user.close().await.expect("closed");
    patch(&path, 110, &[0xee; 2000]);
    let harmed = fs::read(&path).expect("there");
    assert_eq!(name(check(&place.url()).await.map(drop)), "Damaged");
    assert_eq!(fs::read(&path).expect("it stays"), harmed);
}
