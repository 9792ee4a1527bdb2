//! Every setting of the program, once. Flags, variables, files, help and `docs/settings.md` all come from here.

use std::{ffi::OsString, path::PathBuf};

use nudge_wire::frame::DEFAULT_MESSAGE_LIMIT;

use super::{
    chosen::{Chosen, DaemonMode, FromFound, NesBy, OnClose},
    kind::Kind,
    resolve::Found,
    setting::{
        Fallback, Flag,
        FlagForm::{Means, Takes},
        InProject::{self, Allowed, Refused},
        Scope, Setting,
        Variable::{Holds, TurnsOff},
    },
};
use crate::house::start_timeout;

/// The commands that can stand in front of an agent.
const IN_FRONT: Scope = Scope::Of(&["acp", "doctor"]);
/// The commands that serve an editor.
const EDITORS: Scope = Scope::Of(&["acp", "lsp"]);
/// The commands that start a daemon or are one, and may bring a session into use.
const SESSIONS: Scope = Scope::Of(&["acp", "daemon", "queue", "steer", "revoke", "watch", "sessions"]);
/// The commands that start a daemon or are one.
const DAEMONS: Scope = Scope::Of(&["acp", "lsp", "daemon", "queue", "steer", "revoke", "watch", "sessions"]);

/// More is for ever, and cannot be added to a time: a year.
const YEAR: u64 = 365 * 24 * 60 * 60;

/// Below this not even an `initialize` fits.
const LEAST_MESSAGE: u64 = 1024;

/// Why a project file may not choose what is kept, and where.
const PLACE: InProject = Refused("a project must not choose where your sessions are kept");
/// Why a project file may not choose anything about the daemon.
const SHARED: InProject = Refused("the daemon is shared by all your projects");
/// Why a project file may not choose files to write.
const WRITES: InProject =
    Refused("a project must not choose files that are written, nor what is written to them");

/// Why a project file may not choose how long to wait for the agent.
const WAITS: InProject = Refused("a project must not choose how long an agent that hangs is waited for");

/// Makes the table of the rows, and the struct that holds what was chosen, with a field for each row.
macro_rules! settings {
    ($( #[doc = $about:literal] $field:ident: $type:ty {
        key: $key:literal, $( $name:ident: $value:expr ),+ $(,)?
    } )+) => {
        /// Every setting.
        pub(crate) static TABLE: &[Setting] = &[ $( Setting {
            key: $key, about: $about.trim_ascii(), $( $name: $value ),+
        } ),+ ];

        /// What was chosen, each setting in its own type.
        #[derive(Debug)]
        pub(crate) struct Settings { $( #[doc = $about] pub(crate) $field: $type ),+ }

        impl Settings {
            /// From what was found for each row.
            pub(super) fn collect(found: &[Found]) -> Self {
                Self { $( $field: <$type>::from_found(Found::of($key, found)) ),+ }
            }
        }
    };
}

settings! {
    /// The agent of this name in `nudge agents`, unless there is a command behind `--`
    agent_name: Chosen<Option<String>> {
        key: "agent.name",
        kind: Kind::Text("the name of an agent; `nudge agents` lists them"),
        default: Fallback::Unset("the built-in agent"),
        env: Holds("NUDGE_AGENT"),
        flag: Some(Flag { name: "agent", form: Takes("NAME"), on: IN_FRONT, excludes: Some("command") }),
        commands: IN_FRONT,
        in_project: Refused("a project must not choose a program that is run"),
    }
    /// Give every session a process of the agent of its own
    agent_isolate: bool {
        key: "agent.isolate",
        kind: Kind::Switch,
        default: Fallback::Switch(false),
        env: Holds("NUDGE_ISOLATE"),
        flag: Some(Flag { name: "isolate", form: Means("true"), on: IN_FRONT, excludes: None }),
        commands: IN_FRONT,
        in_project: Allowed,
    }
    /// How long the agent may take to stop when a turn is cancelled; after that it is ended and started again
    agent_patience: u64 {
        key: "agent.patience",
        kind: Kind::Seconds { least: 0, most: YEAR },
        default: Fallback::Number(30),
        env: Holds("NUDGE_PATIENCE"),
        flag: Some(Flag { name: "patience", form: Takes("SECONDS"), on: IN_FRONT, excludes: None }),
        commands: IN_FRONT,
        in_project: WAITS,
    }
    /// How long the agent may take to start and answer `initialize`; after that it is ended, and whoever waits is told
    agent_start_timeout: u64 {
        key: "agent.start_timeout",
        kind: Kind::Seconds { least: 1, most: YEAR },
        default: Fallback::Number(start_timeout()),
        env: Holds("NUDGE_START_TIMEOUT"),
        flag: Some(Flag { name: "start-timeout", form: Takes("SECONDS"), on: IN_FRONT, excludes: None }),
        commands: IN_FRONT,
        in_project: WAITS,
    }
    /// Play FILE instead of the built-in rehearsal, in the sessions that are begun or taken up here
    agent_rehearsal: Option<PathBuf> {
        key: "agent.rehearsal",
        kind: Kind::Path { may_be_empty: false },
        default: Fallback::Unset("the built-in rehearsal"),
        env: Holds("NUDGE_REHEARSAL"),
        flag: Some(Flag {
            name: "rehearsal", form: Takes("FILE"), on: Scope::Of(&["acp", "daemon"]), excludes: None,
        }),
        commands: SESSIONS,
        in_project: Refused("a rehearsal runs tools, and a project must not choose what is run"),
    }
    /// Whether a daemon holds the sessions (`on`), or this process does (`off`)
    daemon_mode: DaemonMode {
        key: "daemon.mode",
        kind: Kind::Choice(DaemonMode::NAMES),
        default: Fallback::Text("on"),
        env: Holds("NUDGE_DAEMON"),
        flag: Some(Flag { name: "no-daemon", form: Means("off"), on: EDITORS, excludes: None }),
        commands: EDITORS,
        in_project: SHARED,
    }
    /// How long the daemon stays with nothing attached and nothing running; what the last connection asked for counts
    daemon_linger: Chosen<u64> {
        key: "daemon.linger",
        kind: Kind::Seconds { least: 0, most: u64::MAX },
        default: Fallback::Number(600),
        env: Holds("NUDGE_LINGER"),
        flag: Some(Flag {
            name: "linger", form: Takes("SECONDS"), on: Scope::Of(&["daemon"]), excludes: None,
        }),
        commands: DAEMONS,
        in_project: SHARED,
    }
    /// Keep sessions and what is learned in DIR; an empty name keeps nothing
    data_dir: Option<OsString> {
        key: "data.dir",
        kind: Kind::Path { may_be_empty: true },
        default: Fallback::Unset("`nudge` in `$XDG_DATA_HOME` or `~/.local/share`"),
        env: Holds("NUDGE_DATA"),
        flag: Some(Flag { name: "data", form: Takes("DIR"), on: Scope::All, excludes: None }),
        commands: Scope::All,
        in_project: PLACE,
    }
    /// Keep sessions at URL: `memory`, `sqlite:PATH` or a path
    store_url: Option<String> {
        key: "store.url",
        kind: Kind::Store,
        default: Fallback::Unset("sessions.db in the data folder"),
        env: Holds("NUDGE_STORE"),
        flag: Some(Flag { name: "store", form: Takes("URL"), on: Scope::All, excludes: None }),
        commands: Scope::All,
        in_project: PLACE,
    }
    /// Without a daemon, what becomes of a turn that runs when standard input ends; with one it goes on
    session_on_close: Chosen<OnClose> {
        key: "session.on_close",
        kind: Kind::Choice(OnClose::NAMES),
        default: Fallback::Text("finish"),
        env: Holds("NUDGE_ON_CLOSE"),
        flag: Some(Flag {
            name: "on-close", form: Takes("WHAT"), on: Scope::Of(&["acp"]), excludes: None,
        }),
        commands: Scope::Of(&["acp"]),
        in_project: Allowed,
    }
    /// Who makes next edit suggestions: Nudge, or the agent behind it if that can
    nes_by: NesBy {
        key: "nes.by",
        kind: Kind::Choice(NesBy::NAMES),
        default: Fallback::Text("nudge"),
        env: Holds("NUDGE_NES"),
        flag: Some(Flag { name: "nes", form: Takes("WHO"), on: Scope::Of(&["acp"]), excludes: None }),
        commands: Scope::Of(&["acp"]),
        in_project: Refused("a project must not choose that what you edit is sent to the agent"),
    }
    /// The longest message taken; longer ones are refused
    message_limit: usize {
        key: "message.limit",
        kind: Kind::Bytes { least: LEAST_MESSAGE },
        default: Fallback::Number(DEFAULT_MESSAGE_LIMIT as u64),
        env: Holds("NUDGE_MAX_MESSAGE"),
        flag: Some(Flag { name: "max-message", form: Takes("BYTES"), on: EDITORS, excludes: None }),
        commands: EDITORS,
        in_project: Refused("it bounds the memory that is used"),
    }
    /// Append every message to FILE as JSON lines, with secrets masked
    trace_file: Option<PathBuf> {
        key: "trace.file",
        kind: Kind::Path { may_be_empty: false },
        default: Fallback::Unset("no trace"),
        env: Holds("NUDGE_TRACE"),
        flag: Some(Flag { name: "trace", form: Takes("FILE"), on: EDITORS, excludes: None }),
        commands: EDITORS,
        in_project: WRITES,
    }
    /// What is logged to standard error: error, warn, info, debug, trace or off, or per part: `warn,nudge_peer=debug`
    log_level: Chosen<Option<String>> {
        key: "log.level",
        kind: Kind::LogFilter,
        default: Fallback::Unset("warn"),
        env: Holds("NUDGE_LOG"),
        flag: None,
        commands: Scope::All,
        in_project: WRITES,
    }
    /// Whether there are colours on a terminal
    output_color: bool {
        key: "output.color",
        kind: Kind::Switch,
        default: Fallback::Switch(true),
        env: TurnsOff("NO_COLOR"),
        flag: None,
        commands: Scope::All,
        in_project: Allowed,
    }
}
