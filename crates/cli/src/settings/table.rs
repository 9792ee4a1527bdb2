//! Every setting of the program, once. Flags, variables, files, help and `docs/settings.md` all come from here.

use std::{ffi::OsString, path::PathBuf};

use nudge_wire::frame::DEFAULT_MESSAGE_LIMIT;

use super::{
    chosen::{ChosenValue, DaemonMode, FromFound, NesBy, OnClose},
    kind::ValueKind,
    resolve::FoundValue,
    setting::{
        FlagForm::{Means, Takes},
        InProject::{self, Allowed, Refused},
        SettingDefault, SettingFlag, SettingRow, SettingScope,
        SettingVariable::{Holds, TurnsOff},
    },
};
use crate::serving::start_timeout;

/// The commands that can stand in front of an agent.
const IN_FRONT: SettingScope = SettingScope::Of(&["acp", "chat", "doctor"]);
/// The commands that hold sessions of their own with the built-in agent.
const TALKING: SettingScope = SettingScope::Of(&["acp", "chat"]);
/// The commands that serve an editor, or are a client themselves.
const CLIENTS: SettingScope = SettingScope::Of(&["acp", "lsp", "chat"]);
/// The commands that start a daemon or are one, and may bring a session into use.
const SESSIONS: SettingScope =
    SettingScope::Of(&["acp", "chat", "daemon", "queue", "steer", "revoke", "watch", "sessions"]);
/// The commands that start a daemon or are one.
const DAEMONS: SettingScope =
    SettingScope::Of(&["acp", "lsp", "chat", "daemon", "queue", "steer", "revoke", "watch", "sessions"]);

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

/// Why a project file may not choose the model.
const READER: InProject = Refused("a project must not choose who reads what you say");

/// The ids of the providers, which a test holds against their table.
const PROVIDER_IDS: &[&str] =
    &["anthropic", "openai", "azure", "gemini", "vertex", "bedrock", "ollama", "custom"];

/// Makes the table of the rows, and the struct that holds what was chosen, with a field for each row.
macro_rules! settings {
    ($( #[doc = $about:literal] $field:ident: $type:ty {
        key: $key:literal, $( $name:ident: $value:expr ),+ $(,)?
    } )+) => {
        /// Every setting.
        pub(crate) static TABLE: &[SettingRow] = &[ $( SettingRow {
            key: $key, about: $about.trim_ascii(), $( $name: $value ),+
        } ),+ ];

        /// What was chosen, each setting in its own type.
        #[derive(Debug)]
        pub(crate) struct Settings { $( #[doc = $about] pub(crate) $field: $type ),+ }

        impl Settings {
            /// From what was found for each row.
            pub(super) fn collect(found: &[FoundValue]) -> Self {
                Self { $( $field: <$type>::from_found(FoundValue::of($key, found)) ),+ }
            }
        }
    };
}

settings! {
    /// The agent of this name in `nudge agents`, unless there is a command behind `--`
    agent_name: ChosenValue<Option<String>> {
        key: "agent.name",
        kind: ValueKind::Text("the name of an agent; `nudge agents` lists them"),
        default: SettingDefault::Unset("the built-in agent"),
        env: Holds("NUDGE_AGENT"),
        flag: Some(SettingFlag { name: "agent", form: Takes("NAME"), on: IN_FRONT, excludes: Some("command") }),
        commands: IN_FRONT,
        in_project: Refused("a project must not choose a program that is run"),
    }
    /// Give every session a process of the agent of its own
    agent_isolate: bool {
        key: "agent.isolate",
        kind: ValueKind::Switch,
        default: SettingDefault::Switch(false),
        env: Holds("NUDGE_ISOLATE"),
        flag: Some(SettingFlag { name: "isolate", form: Means("true"), on: IN_FRONT, excludes: None }),
        commands: IN_FRONT,
        in_project: Allowed,
    }
    /// How long the agent may take to stop when a turn is cancelled; after that it is ended and started again
    agent_patience: u64 {
        key: "agent.patience",
        kind: ValueKind::Seconds { least: 0, most: YEAR },
        default: SettingDefault::Number(30),
        env: Holds("NUDGE_PATIENCE"),
        flag: Some(SettingFlag { name: "patience", form: Takes("SECONDS"), on: IN_FRONT, excludes: None }),
        commands: IN_FRONT,
        in_project: WAITS,
    }
    /// How long the agent may take to start and answer `initialize`; after that it is ended, and whoever waits is told
    agent_start_timeout: u64 {
        key: "agent.start_timeout",
        kind: ValueKind::Seconds { least: 1, most: YEAR },
        default: SettingDefault::Number(start_timeout()),
        env: Holds("NUDGE_START_TIMEOUT"),
        flag: Some(SettingFlag { name: "start-timeout", form: Takes("SECONDS"), on: IN_FRONT, excludes: None }),
        commands: IN_FRONT,
        in_project: WAITS,
    }
    /// The model that the built-in agent asks unless a session chooses another; `rehearsal` is none, to see how it works
    agent_model: Option<String> {
        key: "agent.model",
        kind: ValueKind::Text("the name of a model, with or without its provider; `nudge providers models` lists them"),
        default: SettingDefault::Unset("the first of the first provider that is set up"),
        env: Holds("NUDGE_MODEL"),
        flag: Some(SettingFlag {
            name: "model", form: Takes("MODEL"), on: TALKING, excludes: None,
        }),
        commands: SESSIONS,
        in_project: READER,
    }
    /// The one provider that the built-in agent may ask
    agent_provider: Option<String> {
        key: "agent.provider",
        kind: ValueKind::Choice(PROVIDER_IDS),
        default: SettingDefault::Unset("any that is set up"),
        env: Holds("NUDGE_PROVIDER"),
        flag: Some(SettingFlag {
            name: "provider", form: Takes("PROVIDER"), on: TALKING, excludes: None,
        }),
        commands: SESSIONS,
        in_project: READER,
    }
    /// Play FILE instead of the built-in rehearsal, in the sessions that are begun or taken up here
    agent_rehearsal: Option<PathBuf> {
        key: "agent.rehearsal",
        kind: ValueKind::Path { may_be_empty: false },
        default: SettingDefault::Unset("the built-in rehearsal"),
        env: Holds("NUDGE_REHEARSAL"),
        flag: Some(SettingFlag {
            name: "rehearsal", form: Takes("FILE"), on: SettingScope::Of(&["acp", "chat", "daemon"]), excludes: None,
        }),
        commands: SESSIONS,
        in_project: Refused("a rehearsal runs tools, and a project must not choose what is run"),
    }
    /// Whether a daemon holds the sessions (`on`), or this process does (`off`)
    daemon_mode: DaemonMode {
        key: "daemon.mode",
        kind: ValueKind::Choice(DaemonMode::NAMES),
        default: SettingDefault::Text("on"),
        env: Holds("NUDGE_DAEMON"),
        flag: Some(SettingFlag { name: "no-daemon", form: Means("off"), on: CLIENTS, excludes: None }),
        commands: CLIENTS,
        in_project: SHARED,
    }
    /// How long the daemon stays with nothing attached and nothing running; what the last connection asked for counts
    daemon_linger: ChosenValue<u64> {
        key: "daemon.linger",
        kind: ValueKind::Seconds { least: 0, most: u64::MAX },
        default: SettingDefault::Number(600),
        env: Holds("NUDGE_LINGER"),
        flag: Some(SettingFlag {
            name: "linger", form: Takes("SECONDS"), on: SettingScope::Of(&["daemon"]), excludes: None,
        }),
        commands: DAEMONS,
        in_project: SHARED,
    }
    /// Keep sessions and what is learned in DIR; an empty name keeps nothing
    data_dir: Option<OsString> {
        key: "data.dir",
        kind: ValueKind::Path { may_be_empty: true },
        default: SettingDefault::Unset("`nudge` in `$XDG_DATA_HOME` or `~/.local/share`"),
        env: Holds("NUDGE_DATA"),
        flag: Some(SettingFlag { name: "data", form: Takes("DIR"), on: SettingScope::All, excludes: None }),
        commands: SettingScope::All,
        in_project: PLACE,
    }
    /// Keep sessions at URL: `memory`, `sqlite:PATH` or a path
    store_url: Option<String> {
        key: "store.url",
        kind: ValueKind::Store,
        default: SettingDefault::Unset("sessions.db in the data folder"),
        env: Holds("NUDGE_STORE"),
        flag: Some(SettingFlag { name: "store", form: Takes("URL"), on: SettingScope::All, excludes: None }),
        commands: SettingScope::All,
        in_project: PLACE,
    }
    /// Whether keys of providers are put into the keyring of the system, if it answers; else into a file only you can read
    login_keyring: bool {
        key: "login.keyring",
        kind: ValueKind::Switch,
        default: SettingDefault::Switch(true),
        env: Holds("NUDGE_KEYRING"),
        flag: None,
        commands: SettingScope::Of(&["login", "acp", "chat", "daemon"]),
        in_project: Refused("a project must not choose where your keys are kept"),
    }
    /// Without a daemon, what becomes of a turn that runs when standard input ends; with one it goes on
    session_on_close: ChosenValue<OnClose> {
        key: "session.on_close",
        kind: ValueKind::Choice(OnClose::NAMES),
        default: SettingDefault::Text("finish"),
        env: Holds("NUDGE_ON_CLOSE"),
        flag: Some(SettingFlag {
            name: "on-close", form: Takes("WHAT"), on: SettingScope::Of(&["acp"]), excludes: None,
        }),
        commands: SettingScope::Of(&["acp"]),
        in_project: Allowed,
    }
    /// Who makes next edit suggestions: Nudge, or the agent behind it if that can
    nes_by: NesBy {
        key: "nes.by",
        kind: ValueKind::Choice(NesBy::NAMES),
        default: SettingDefault::Text("nudge"),
        env: Holds("NUDGE_NES"),
        flag: Some(SettingFlag { name: "nes", form: Takes("WHO"), on: SettingScope::Of(&["acp"]), excludes: None }),
        commands: SettingScope::Of(&["acp"]),
        in_project: Refused("a project must not choose that what you edit is sent to the agent"),
    }
    /// The longest message taken; longer ones are refused
    message_limit: usize {
        key: "message.limit",
        kind: ValueKind::Bytes { least: LEAST_MESSAGE },
        default: SettingDefault::Number(DEFAULT_MESSAGE_LIMIT as u64),
        env: Holds("NUDGE_MAX_MESSAGE"),
        flag: Some(SettingFlag { name: "max-message", form: Takes("BYTES"), on: CLIENTS, excludes: None }),
        commands: CLIENTS,
        in_project: Refused("it bounds the memory that is used"),
    }
    /// Append every message to FILE as JSON lines, with secrets masked
    trace_file: Option<PathBuf> {
        key: "trace.file",
        kind: ValueKind::Path { may_be_empty: false },
        default: SettingDefault::Unset("no trace"),
        env: Holds("NUDGE_TRACE"),
        flag: Some(SettingFlag { name: "trace", form: Takes("FILE"), on: CLIENTS, excludes: None }),
        commands: CLIENTS,
        in_project: WRITES,
    }
    /// What is logged to standard error: error, warn, info, debug, trace or off, or per part: `warn,nudge_peer=debug`
    log_level: ChosenValue<Option<String>> {
        key: "log.level",
        kind: ValueKind::LogFilter,
        default: SettingDefault::Unset("warn"),
        env: Holds("NUDGE_LOG"),
        flag: None,
        commands: SettingScope::All,
        in_project: WRITES,
    }
    /// Whether there are colours on a terminal
    output_color: bool {
        key: "output.color",
        kind: ValueKind::Switch,
        default: SettingDefault::Switch(true),
        env: TurnsOff("NO_COLOR"),
        flag: None,
        commands: SettingScope::All,
        in_project: Allowed,
    }
}
