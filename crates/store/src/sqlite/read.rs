//! Reading: rows into what they stand for.

use sqlx::{AssertSqlSafe, Row as _, SqliteConnection, sqlite::SqliteRow};

use super::value::{fold, from_i64, like, state_of, to_i64};
use crate::{
    EntrySeq, MAX_SEQ, PageLimit, SessionCursor, SessionFilter, SessionPage, SessionRow, StoreError,
    StoredInput, TranscriptEntry,
    body::unpack,
    sql::{self, SPAN},
};

pub(super) async fn session(conn: &mut SqliteConnection, id: &str) -> Result<Option<SessionRow>, StoreError> {
    let row = sqlx::query(sql::SESSION).bind(id).fetch_optional(conn).await?;
    Ok(row.as_ref().map(session_of).transpose()?)
}

pub(super) async fn sessions(
    conn: &mut SqliteConnection,
    filter: &SessionFilter,
    after: Option<&SessionCursor>,
    limit: u32,
) -> Result<SessionPage, StoreError> {
    let limit = limit.max(1);
    let pattern = filter.search.as_ref().map(|search| like(&fold(search)));
    if pattern.as_ref().is_some_and(|pattern| pattern.len() > LONGEST_PATTERN) {
        return Ok(SessionPage::default());
    }
    let mut query = sqlx::query(AssertSqlSafe(sql::sessions(filter, after.is_some())));
    if let Some(cwd) = &filter.cwd {
        query = query.bind(cwd);
    }
    if let Some(created_after) = filter.created_after {
        query = query.bind(to_i64(created_after));
    }
    if let Some(pattern) = pattern {
        query = query.bind(pattern);
    }
    if let Some(closed) = filter.closed {
        query = query.bind(i64::from(closed));
    }
    if let Some(backend) = &filter.backend {
        query = query.bind(backend);
    }
    if let Some(after) = after {
        query = query.bind(to_i64(after.updated_at)).bind(&*after.id);
    }
    // One more than asked for tells whether there is another page.
    let rows = query.bind(i64::from(limit) + 1).fetch_all(conn).await?;
    let wanted = rows.iter().take(limit as usize);
    let sessions: Vec<SessionRow> = wanted.map(session_of).collect::<Result<_, _>>()?;
    let more = rows.len() > sessions.len();
    let last = sessions.last().filter(|_| more);
    let next = last.map(|last| SessionCursor { updated_at: last.updated_at, id: last.id.clone() });
    Ok(SessionPage { sessions, next })
}

/// The database refuses longer ones, and no title is that long.
const LONGEST_PATTERN: usize = 50_000;

pub(super) async fn transcript(
    conn: &mut SqliteConnection,
    id: &str,
    from: EntrySeq,
    limit: PageLimit,
) -> Result<Vec<TranscriptEntry>, StoreError> {
    if from > MAX_SEQ {
        return Ok(Vec::new());
    }
    let mut entries: Vec<TranscriptEntry> = Vec::new();
    let mut left = limit.bytes.max(1);
    let mut rows = FIRST_ROWS;
    let mut next = from;
    while entries.len() < limit.rows as usize && left > 0 {
        rows = rows.min(limit.rows as usize - entries.len());
        rows = fitting(conn, id, next, rows).await?;
        let some = some_entries(conn, id, next, rows).await?;
        let bytes: usize = some.iter().map(|entry| entry.frame.len()).sum();
        let is_last = some.len() < rows;
        let Some(last) = some.last() else { break };
        next = last.seq + 1;
        rows = (left.min(CHUNK) / (bytes / some.len()).max(1)).clamp(1, MOST_ROWS);
        for entry in some {
            if left > 0 {
                left = left.saturating_sub(entry.frame.len());
                entries.push(entry);
            }
        }
        if is_last {
            break;
        }
    }
    Ok(entries)
}

/// How many entries are read at first, when nothing is known of their size.
const FIRST_ROWS: usize = 16;
const MOST_ROWS: usize = 4096;
/// About how many bytes are read as one value.
const CHUNK: usize = 256 << 10;
/// How many bytes are read as one value at most, unless a single entry is longer.
const MOST_BYTES: u64 = 4 << 20;

/// So many of the next entries that they can be read as one value: entries may be much longer than those before them.
async fn fitting(
    conn: &mut SqliteConnection,
    id: &str,
    from: EntrySeq,
    mut rows: usize,
) -> Result<usize, sqlx::Error> {
    while rows > 1 {
        let limit = i64::try_from(rows).unwrap_or(i64::MAX);
        let query = sqlx::query(sql::TRANSCRIPT_LENGTH).bind(id).bind(to_i64(from)).bind(limit);
        let bytes: Option<i64> = query.fetch_one(&mut *conn).await?.try_get(0)?;
        if bytes.is_none_or(|bytes| from_i64(bytes) <= MOST_BYTES) {
            break;
        }
        rows /= 2;
    }
    Ok(rows)
}

async fn some_entries(
    conn: &mut SqliteConnection,
    id: &str,
    from: EntrySeq,
    rows: usize,
) -> Result<Vec<TranscriptEntry>, StoreError> {
    let rows = i64::try_from(rows).unwrap_or(i64::MAX);
    let query = sqlx::query(sql::TRANSCRIPT).bind(id).bind(to_i64(from)).bind(rows);
    let bodies: Option<Vec<u8>> = query.fetch_one(conn).await?.try_get(0)?;
    let bodies = bodies.unwrap_or_default().into();
    Ok(unpack(bodies).map_err(|error| sqlx::Error::Decode(error.into()))?)
}

pub(super) async fn last_seq(conn: &mut SqliteConnection, id: &str) -> Result<Option<EntrySeq>, StoreError> {
    let row = sqlx::query(sql::LAST_PLACE).bind(id).fetch_optional(conn).await?;
    let place: Option<i64> = row.map(|row| row.try_get(0)).transpose()?;
    Ok(place.map(seq_of))
}

pub(super) async fn inputs(conn: &mut SqliteConnection, id: &str) -> Result<Vec<StoredInput>, StoreError> {
    let rows = sqlx::query(sql::INPUTS).bind(id).fetch_all(conn).await?;
    Ok(rows.iter().map(input_of).collect::<Result<_, _>>()?)
}

/// The number of the entry at a place.
pub(super) fn seq_of(place: i64) -> EntrySeq {
    from_i64(place.rem_euclid(SPAN))
}

fn session_of(row: &SqliteRow) -> Result<SessionRow, sqlx::Error> {
    let directories: &str = row.try_get(2)?;
    Ok(SessionRow {
        id: row.try_get::<&str, _>(0)?.into(),
        cwd: row.try_get(1)?,
        additional_directories: serde_json::from_str(directories)
            .map_err(|error| sqlx::Error::Decode(error.into()))?,
        title: row.try_get(3)?,
        created_at: from_i64(row.try_get(4)?),
        updated_at: from_i64(row.try_get(5)?),
        backend: row.try_get(6)?,
        agent_session_id: row.try_get(7)?,
        parent: row.try_get::<Option<&str>, _>(8)?.map(Into::into),
        config: row.try_get(9)?,
        closed: row.try_get::<i64, _>(10)? != 0,
    })
}

fn input_of(row: &SqliteRow) -> Result<StoredInput, sqlx::Error> {
    Ok(StoredInput {
        id: row.try_get::<&str, _>(0)?.into(),
        seq: from_i64(row.try_get(1)?),
        client: row.try_get::<i64, _>(2)?.cast_unsigned(),
        mode: row.try_get(3)?,
        dialect: row.try_get(4)?,
        key: row.try_get(5)?,
        state: state_of(row.try_get(6)?)?,
        content: row.try_get(7)?,
    })
}
