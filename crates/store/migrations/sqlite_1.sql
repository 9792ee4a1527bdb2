-- Sessions. `key` is the upper part of the place of its entries.
CREATE TABLE sessions (
    key INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    cwd TEXT NOT NULL,
    additional_directories TEXT NOT NULL,
    title TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    backend TEXT NOT NULL,
    agent_session_id TEXT,
    parent TEXT,
    config TEXT NOT NULL,
    closed BIGINT NOT NULL,
    -- Title and id in lower case, for searching.
    search TEXT NOT NULL
);
-- With `search` in it, a search reads no row that it does not list.
CREATE INDEX sessions_by_time ON sessions (updated_at DESC, id, search);
CREATE INDEX sessions_by_cwd ON sessions (cwd, updated_at DESC, id);

-- Transcripts. `place` is key * 2^36 + seq; an INTEGER PRIMARY KEY is the order of the rows in the file.
CREATE TABLE entries (
    place INTEGER PRIMARY KEY,
    body BLOB NOT NULL
);

-- Inputs; state 0 is pending, 1 delivered, 2 revoked.
CREATE TABLE inputs (
    session BIGINT NOT NULL,
    id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    client BIGINT NOT NULL,
    mode TEXT NOT NULL,
    dialect TEXT NOT NULL,
    key TEXT,
    state BIGINT NOT NULL,
    content TEXT,
    PRIMARY KEY (session, id)
);

-- Leases. One that was given back has an empty owner; it keeps its row until the session is deleted.
CREATE TABLE leases (
    session TEXT NOT NULL PRIMARY KEY,
    owner TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    until BIGINT NOT NULL
);
CREATE INDEX leases_by_owner ON leases (owner);

-- Epochs come from one counter, so that none is used twice, not even for a session that was deleted and made again.
CREATE TABLE counters (name TEXT NOT NULL PRIMARY KEY, value BIGINT NOT NULL);
INSERT INTO counters (name, value) VALUES ('epoch', 0);

-- Not used. What is in the first format stays in it: versions before look for every table of theirs.
CREATE TABLE settings (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL);
