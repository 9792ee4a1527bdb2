//! The statements, in the SQL that SQLite and PostgreSQL have in common.
//!
//! An entry is found by one number, its place: the session's number above, the entry's below. So a transcript lies
//! together on the disk, in order, in either database.

use std::sync::LazyLock;

use crate::SessionFilter;

/// How many places a session has.
pub(crate) const SPAN: i64 = 1 << 36;

/// The lease of each session named, its number if it exists, and the last place it has used.
const STANDING: &str = "SELECT l.session, l.owner, l.epoch, s.key, \
     (SELECT e.place FROM entries e \
      WHERE e.place >= s.key * 68719476736 AND e.place < (s.key + 1) * 68719476736 \
      ORDER BY e.place DESC LIMIT 1) \
     FROM leases l LEFT JOIN sessions s ON s.id = l.session WHERE l.session IN ";

pub(crate) const CREATE_SESSION: &str = "INSERT INTO sessions (id, cwd, additional_directories, title, \
     created_at, updated_at, backend, agent_session_id, parent, config, closed, search) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) RETURNING key";

pub(crate) const UPDATE_SESSION: &str = "UPDATE sessions SET \
     title = CASE WHEN $2 = 1 THEN $3 ELSE title END, \
     search = CASE WHEN $2 = 1 THEN $4 ELSE search END, \
     updated_at = COALESCE($5, updated_at), config = COALESCE($6, config), closed = COALESCE($7, closed), \
     agent_session_id = CASE WHEN $8 = 1 THEN $9 ELSE agent_session_id END \
     WHERE key = $1";

pub(crate) const DELETE_ENTRIES: &str = "DELETE FROM entries WHERE place >= $1 AND place < $2";
pub(crate) const DELETE_INPUTS: &str = "DELETE FROM inputs WHERE session = $1";
pub(crate) const DELETE_SESSION: &str = "DELETE FROM sessions WHERE key = $1";
pub(crate) const DELETE_LEASE: &str = "DELETE FROM leases WHERE session = $1";

pub(crate) const SESSION_KEY: &str = "SELECT key FROM sessions WHERE id = $1";

pub(crate) const COPY_ENTRIES: &str = "INSERT INTO entries (place, body) \
     SELECT place + $1, body FROM entries WHERE place >= $2 AND place <= $3";

pub(crate) const REPLACE_INPUT: &str =
    "UPDATE inputs SET content = $3 WHERE session = $1 AND id = $2 AND state = 0";
pub(crate) const REMOVE_INPUT: &str = "DELETE FROM inputs WHERE session = $1 AND id = $2 AND state = 0";
pub(crate) const FREE_INPUT_KEY: &str = "UPDATE inputs SET key = NULL WHERE session = $1 AND id = $2";
pub(crate) const LEASE: &str = "SELECT owner, epoch, until FROM leases WHERE session = $1";
pub(crate) const NEXT_EPOCH: &str =
    "UPDATE counters SET value = value + 1 WHERE name = 'epoch' RETURNING value";
pub(crate) const TAKE_LEASE: &str = "INSERT INTO leases (session, owner, epoch, until) VALUES ($1, $2, $3, $4) \
     ON CONFLICT (session) DO UPDATE SET owner = excluded.owner, epoch = excluded.epoch, until = excluded.until";
pub(crate) const RENEW_LEASE: &str =
    "UPDATE leases SET until = $4 WHERE session = $1 AND owner = $2 AND epoch = $3";
pub(crate) const RELEASE_LEASE: &str =
    "UPDATE leases SET owner = '', until = 0 WHERE session = $1 AND owner = $2 AND epoch = $3";
pub(crate) const RELEASE_OWNER: &str = "UPDATE leases SET owner = '', until = 0 WHERE owner = $1";

pub(crate) const SESSION: &str = "SELECT id, cwd, additional_directories, title, created_at, updated_at, backend, \
     agent_session_id, parent, config, closed FROM sessions WHERE id = $1";

/// The columns of a session, in the order of [`SESSION`].
const SESSION_COLUMNS: &str = "id, cwd, additional_directories, title, created_at, updated_at, backend, \
     agent_session_id, parent, config, closed";

/// Some entries one behind the other, as one value.
pub(crate) const TRANSCRIPT: &str = "SELECT string_agg(body, '') FROM (SELECT e.body FROM sessions s JOIN entries e \
     ON e.place >= s.key * 68719476736 + $2 AND e.place < (s.key + 1) * 68719476736 \
     WHERE s.id = $1 ORDER BY e.place LIMIT $3) AS part";

/// How long those are together.
pub(crate) const TRANSCRIPT_LENGTH: &str = "SELECT SUM(size) FROM (SELECT LENGTH(e.body) AS size FROM sessions s JOIN entries e \
     ON e.place >= s.key * 68719476736 + $2 AND e.place < (s.key + 1) * 68719476736 \
     WHERE s.id = $1 ORDER BY e.place LIMIT $3) AS part";

pub(crate) const LAST_PLACE: &str = "SELECT e.place FROM sessions s JOIN entries e \
     ON e.place >= s.key * 68719476736 AND e.place < (s.key + 1) * 68719476736 \
     WHERE s.id = $1 ORDER BY e.place DESC LIMIT 1";

pub(crate) const INPUTS: &str = "SELECT i.id, i.seq, i.client, i.mode, i.dialect, i.key, i.state, i.content \
     FROM sessions s JOIN inputs i ON i.session = s.key WHERE s.id = $1 ORDER BY i.seq, i.id";

/// How many rows a statement is made for. Each is prepared once, so there are few.
const SIZES: [usize; 7] = [64, 32, 16, 8, 4, 2, 1];

/// One statement for several rows at once, in all sizes.
pub(crate) struct RowsStatement {
    sizes: [(usize, String); SIZES.len()],
}

impl RowsStatement {
    fn new(head: &str, columns: usize, tail: &str) -> Self {
        Self { sizes: SIZES.map(|rows| (rows, format!("{head}{}{tail}", placeholders(rows, columns)))) }
    }

    /// The statement for as many of `waiting` rows as one takes, and how many those are.
    pub(crate) fn at_most(&'static self, waiting: usize) -> (usize, &'static str) {
        let smallest = &self.sizes[SIZES.len() - 1];
        let (rows, sql) = self.sizes.iter().find(|(rows, _)| *rows <= waiting).unwrap_or(smallest);
        (*rows, sql)
    }
}

pub(crate) static INSERT_ENTRIES: LazyLock<RowsStatement> =
    LazyLock::new(|| RowsStatement::new("INSERT INTO entries (place, body) VALUES ", 2, ""));

pub(crate) static INSERT_INPUTS: LazyLock<RowsStatement> = LazyLock::new(|| {
    RowsStatement::new(
        "INSERT INTO inputs (session, id, seq, client, mode, dialect, key, state, content) VALUES ",
        9,
        "",
    )
});

/// [`STANDING`] for several sessions.
pub(crate) static STANDINGS: LazyLock<RowsStatement> = LazyLock::new(|| RowsStatement {
    sizes: SIZES.map(|size| (size, format!("{STANDING}{}", placeholders(1, size)))),
});

/// Says what became of pending inputs. First the state, then session and id of each.
pub(crate) static SET_INPUTS: LazyLock<RowsStatement> = LazyLock::new(|| {
    RowsStatement::new(
        "UPDATE inputs SET state = ?, content = NULL FROM (VALUES ",
        2,
        ") AS v WHERE session = v.column1 AND id = v.column2 AND state = 0",
    )
});

/// Sets the time of several sessions' last change: key and time of each.
pub(crate) static TOUCH_SESSIONS: LazyLock<RowsStatement> = LazyLock::new(|| {
    RowsStatement::new(
        "UPDATE sessions SET updated_at = v.column2 FROM (VALUES ",
        2,
        ") AS v WHERE key = v.column1",
    )
});

/// `(?, ?), (?, ?)`. Numbered ones would be looked up by name, each among all the others.
fn placeholders(rows: usize, columns: usize) -> String {
    let row = format!("({})", vec!["?"; columns].join(", "));
    vec![row; rows].join(", ")
}

/// The list of sessions. Arguments in order: what the filter asks for, the cursor's time and id, the limit.
pub(crate) fn sessions(filter: &SessionFilter, after: bool) -> String {
    let mut asked = Vec::new();
    let mut number = 0;
    let mut next = || {
        number += 1;
        number
    };
    if filter.cwd.is_some() {
        asked.push(format!("cwd = ${}", next()));
    }
    if filter.created_after.is_some() {
        asked.push(format!("created_at > ${}", next()));
    }
    if filter.search.is_some() {
        asked.push(format!("search LIKE ${} ESCAPE '\\'", next()));
    }
    if filter.closed.is_some() {
        asked.push(format!("closed = ${}", next()));
    }
    if filter.backend.is_some() {
        asked.push(format!("backend = ${}", next()));
    }
    if after {
        // Written so that an index by time can begin at the cursor.
        let (time, id) = (next(), next());
        asked.push(format!("updated_at <= ${time} AND NOT (updated_at = ${time} AND id <= ${id})"));
    }
    let which = if asked.is_empty() { String::new() } else { format!(" WHERE {}", asked.join(" AND ")) };
    format!("SELECT {SESSION_COLUMNS} FROM sessions{which} ORDER BY updated_at DESC, id LIMIT ${}", next())
}
