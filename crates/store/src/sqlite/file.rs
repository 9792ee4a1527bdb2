//! The file: where it is, whether it can be used, and what happens if not.

use std::{
    ffi::OsString,
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::ErrorKind,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use sqlx::{
    ConnectOptions as _, Connection as _, Row as _, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};

use super::{base_options, migrate};
use crate::StoreError;

/// Where a store is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StorePlace {
    Memory,
    File(PathBuf),
}

impl StorePlace {
    pub(crate) fn parse(url: &str) -> Result<Self, StoreError> {
        let path = url.strip_prefix("sqlite:").unwrap_or(url);
        let path = path.strip_prefix("//").unwrap_or(path);
        match url {
            "memory" | "sqlite::memory:" => Ok(Self::Memory),
            _ if path.is_empty() || path.contains("://") => Err(StoreError::BadUrl),
            _ => Ok(Self::File(PathBuf::from(path))),
        }
    }
}

/// A store that was opened for writing.
pub(super) struct OpenedFile {
    pub(super) conn: SqliteConnection,
    /// How to open it for reading.
    pub(super) reading: SqliteConnectOptions,
    pub(super) judge: DamageJudge,
    /// Where a damaged file was moved to.
    pub(super) set_aside: Option<PathBuf>,
    /// Held as long as the file is open, so that nobody sets it aside meanwhile.
    pub(super) in_use: Option<File>,
}

/// Tells damage from other errors.
#[derive(Clone)]
pub(super) struct DamageJudge {
    path: Option<PathBuf>,
}

impl DamageJudge {
    /// If the error says that the file is damaged, the next start is told to examine it.
    pub(super) fn judge(&self, error: StoreError) -> StoreError {
        let StoreError::Database(cause) = &error else { return error };
        if !is_damage(cause) {
            return error;
        }
        if let Some(path) = &self.path {
            tracing::error!(path = %path.display(), "the store's file is damaged; it is set aside at the next start");
            let marked = OpenOptions::new().append(true).create(true).mode(0o600).open(beside(path, MARK));
            if let Err(error) = marked {
                tracing::warn!(%error, "the damaged file could not be marked");
            }
        }
        StoreError::Damaged
    }
}

/// Opens the store for writing.
pub(super) async fn open(place: &StorePlace) -> Result<OpenedFile, StoreError> {
    match place {
        StorePlace::Memory => open_memory().await,
        StorePlace::File(path) => open_file(path).await,
    }
}

async fn open_memory() -> Result<OpenedFile, StoreError> {
    static OPENED: AtomicU64 = AtomicU64::new(0);
    // Connections of one process that give the same name share the database.
    let name = format!("/nudge-{}", OPENED.fetch_add(1, Ordering::Relaxed));
    let options = base_options(SqliteConnectOptions::new()).filename(name).vfs("memdb");
    let mut conn = options.clone().create_if_missing(true).connect().await?;
    migrate::migrate(&mut conn).await?;
    let reading = options.pragma("query_only", "on").row_buffer_size(ROW_BUFFER);
    Ok(OpenedFile { conn, reading, judge: DamageJudge { path: None }, set_aside: None, in_use: None })
}

async fn open_file(path: &Path) -> Result<OpenedFile, StoreError> {
    make_directory(path)?;
    let (lock, mut alone) = lock(path)?;
    let mut moved = None;
    if examine(path).await? == Condition::Damaged {
        alone = alone || is_left_alone(&lock);
        if !alone {
            return Err(StoreError::DamagedInUse { path: path.to_owned() });
        }
        moved = Some(set_aside(path)?);
    }
    make_file(path)?;
    let options = base_options(SqliteConnectOptions::new()).filename(path);
    let writing = options.clone().journal_mode(SqliteJournalMode::Wal).synchronous(SqliteSynchronous::Full);
    let mut conn = writing.connect().await?;
    migrate::migrate(&mut conn).await?;
    let reading = options.pragma("query_only", "on").row_buffer_size(ROW_BUFFER);
    if alone {
        lock.lock_shared().map_err(StoreError::io("locking", beside(path, LOCK)))?;
    }
    let judge = DamageJudge { path: Some(path.to_owned()) };
    Ok(OpenedFile { conn, reading, judge, set_aside: moved, in_use: Some(lock) })
}

/// How many rows a connection may read ahead of whoever takes them.
const ROW_BUFFER: usize = 512;

#[derive(Debug, PartialEq, Eq)]
enum Condition {
    /// Usable, or not there yet.
    Good,
    Damaged,
}

/// Looks at the file without changing what it says.
async fn examine(path: &Path) -> Result<Condition, StoreError> {
    match fs::metadata(path) {
        Ok(meta) if meta.len() == 0 => return Ok(Condition::Good),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Condition::Good),
        Err(error) => return Err(StoreError::io("looking at", path)(error)),
    }
    let looked = match look(path, true).await {
        // A use that was killed left a change half done; only who may write can undo that.
        Err(error) if is_half_done(&error) => look(path, false).await,
        looked => looked,
    };
    match looked {
        Ok(Found::Format(found)) if found > migrate::newest() => {
            Err(StoreError::Newer { path: path.to_owned(), found, known: migrate::newest() })
        }
        Ok(Found::Format(_)) => Ok(Condition::Good),
        Ok(Found::SomethingElse) => Err(StoreError::Foreign { path: path.to_owned() }),
        Ok(Found::Damage) => Ok(Condition::Damaged),
        Err(error) if is_damage(&error) => Ok(Condition::Damaged),
        Err(error) => Err(error.into()),
    }
}

/// Reads all of a file, which stays as it is, and counts its sessions.
pub(crate) async fn check(place: &StorePlace) -> Result<u64, StoreError> {
    let StorePlace::File(path) = place else { return Ok(0) };
    match fs::metadata(path) {
        Ok(meta) if meta.len() == 0 => return Ok(0),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(StoreError::io("looking at", path)(error)),
    }
    let read = match read_all(path, true).await {
        // As in `examine`.
        Err(error) if is_half_done(&error) => read_all(path, false).await,
        read => read,
    };
    match read {
        Ok((None, _)) => Err(StoreError::Foreign { path: path.clone() }),
        Ok((Some(found), _)) if found > migrate::newest() => {
            Err(StoreError::Newer { path: path.clone(), found, known: migrate::newest() })
        }
        Ok((_, Some(sessions))) => Ok(sessions),
        Ok((_, None)) => Err(StoreError::Damaged),
        Err(error) if is_damage(&error) => Err(StoreError::Damaged),
        Err(error) => Err(error.into()),
    }
}

/// The format of a file, if it is a store, and how many sessions are in it, if it is whole.
async fn read_all(path: &Path, read_only: bool) -> Result<(Option<i64>, Option<u64>), sqlx::Error> {
    let options = base_options(SqliteConnectOptions::new()).filename(path).read_only(read_only);
    let mut conn = options.connect().await?;
    let format = migrate::format(&mut conn).await?;
    match format {
        Some(0) => return Ok((format, Some(0))),
        Some(found) if found <= migrate::newest() => {}
        // What belongs to a newer one is not known here.
        _ => return Ok((format, None)),
    }
    let verdict = sqlx::query("PRAGMA quick_check(1)").fetch_one(&mut conn).await?;
    let is_old = format != Some(migrate::newest());
    if verdict.try_get::<&str, _>(0)? != "ok" || !(is_old || migrate::is_whole(&mut conn).await?) {
        return Ok((format, None));
    }
    let count: i64 = sqlx::query("SELECT COUNT(*) FROM sessions").fetch_one(&mut conn).await?.try_get(0)?;
    conn.close().await?;
    Ok((format, Some(u64::try_from(count).unwrap_or_default())))
}

/// Whether the file cannot be read because a change to it has to be undone or finished first.
fn is_half_done(error: &sqlx::Error) -> bool {
    const READONLY_RECOVERY: &str = "264";
    const READONLY_ROLLBACK: &str = "776";
    let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
    code.is_some_and(|code| code == READONLY_RECOVERY || code == READONLY_ROLLBACK)
}

/// What a file turns out to be.
enum Found {
    /// A store in this format.
    Format(i64),
    /// A database, but no store.
    SomethingElse,
    Damage,
}

/// Reads what every use needs: the header and the schema; and all of it if the last use met damage.
async fn look(path: &Path, read_only: bool) -> Result<Found, sqlx::Error> {
    let options = base_options(SqliteConnectOptions::new()).filename(path).read_only(read_only);
    let mut conn = options.connect().await?;
    let Some(format) = migrate::format(&mut conn).await? else { return Ok(Found::SomethingElse) };
    if format == migrate::newest() && !migrate::is_whole(&mut conn).await? {
        return Ok(Found::Damage);
    }
    let mark = beside(path, MARK);
    if mark.exists() {
        let verdict = sqlx::query("PRAGMA quick_check(1)").fetch_one(&mut conn).await?;
        if verdict.try_get::<&str, _>(0)? != "ok" {
            return Ok(Found::Damage);
        }
        // If it stays, the next start looks again.
        let _ = fs::remove_file(mark);
    }
    conn.close().await?;
    Ok(Found::Format(format))
}

/// Moves a damaged file that nobody uses out of the way; says where it is now.
fn set_aside(path: &Path) -> Result<PathBuf, StoreError> {
    let target = free_name(path);
    for tail in ["", "-wal", "-shm", "-journal"] {
        let (from, to) = (beside(path, tail), beside(&target, tail));
        match fs::rename(&from, &to) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            other => other.map_err(StoreError::io("setting aside", from))?,
        }
    }
    let _ = fs::remove_file(beside(path, MARK));
    tracing::error!(path = %path.display(), to = %target.display(), "the store's file was damaged and is set aside");
    Ok(target)
}

/// `NAME.corrupt-TIME`, or with a number behind it if that is taken.
fn free_name(path: &Path) -> PathBuf {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let named = |number: u32| match number {
        0 => beside(path, &format!(".corrupt-{seconds}")),
        _ => beside(path, &format!(".corrupt-{seconds}-{number}")),
    };
    (0..u32::MAX).map(named).find(|name| !name.exists()).expect("some number is free")
}

/// Is there after a use met damage.
const MARK: &str = ".damaged";
/// Is locked while the file is in use: shared by those who use it, exclusively by the first while it opens it.
const LOCK: &str = ".lock";

fn beside(path: &Path, tail: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(tail);
    name.into()
}

/// Waits until nobody else is opening the file. The lock is exclusive, as is said, if nobody has the file open: then it
/// can be begun, brought up to date or set aside.
fn lock(path: &Path) -> Result<(File, bool), StoreError> {
    let name = beside(path, LOCK);
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(0o600);
    let file = options.open(&name).map_err(StoreError::io("opening", &name))?;
    match file.try_lock() {
        Ok(()) => return Ok((file, true)),
        Err(TryLockError::WouldBlock) => file.lock_shared().map_err(StoreError::io("locking", name))?,
        Err(TryLockError::Error(error)) => return Err(StoreError::io("locking", name)(error)),
    }
    Ok((file, false))
}

/// Whether the others who have the file open leave it in a moment.
///
/// A process that has just begun holds the locks of the one that began it, until it is another program.
fn is_left_alone(lock: &File) -> bool {
    const TRIES: u32 = 25;
    const PAUSE: Duration = Duration::from_millis(20);
    (0..TRIES).any(|_| {
        std::thread::sleep(PAUSE);
        lock.try_lock().is_ok()
    })
}

fn make_directory(path: &Path) -> Result<(), StoreError> {
    let Some(directory) = path.parent().filter(|directory| !directory.as_os_str().is_empty()) else {
        return Ok(());
    };
    let made = DirBuilder::new().recursive(true).mode(0o700).create(directory);
    made.map_err(StoreError::io("creating", directory))
}

/// Begins the file for the owner's eyes only. SQLite gives the files beside it the same mode.
///
/// It is made under another name and linked: a file that SQLite may have open must not be opened and closed here,
/// because closing it drops all of the process's locks on it.
fn make_file(path: &Path) -> Result<(), StoreError> {
    static MADE: AtomicU64 = AtomicU64::new(0);
    if path.exists() {
        return Ok(());
    }
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    let draft = beside(path, &format!(".new-{}-{number}", process::id()));
    let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft);
    created.map_err(StoreError::io("creating", &draft))?;
    let linked = fs::hard_link(&draft, path);
    let _ = fs::remove_file(&draft);
    match linked {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(()),
        other => other.map_err(StoreError::io("creating", path))?,
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let synced = File::open(directory).and_then(|directory| directory.sync_all());
    synced.map_err(StoreError::io("syncing", directory))
}

/// Whether the database says that the file is not what it wrote.
fn is_damage(error: &sqlx::Error) -> bool {
    const CORRUPT: i32 = 11;
    const NOT_A_DATABASE: i32 = 26;
    let code = error.as_database_error().and_then(|error| error.code()?.parse::<i32>().ok());
    // The upper bits tell more about the same error.
    matches!(code.map(|code| code & 0xff), Some(CORRUPT | NOT_A_DATABASE))
}
