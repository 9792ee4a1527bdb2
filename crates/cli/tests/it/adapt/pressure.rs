//! More than somebody can take: the disk, the agent or a client. Whoever sends it waits, and nothing is lost.

use std::{
    io::Write,
    path::Path,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use nudge_testkit::{Held, Process, eventually, peak_memory};
use serde_json::{Value, json};

use super::{Place, TIERS, agent, check_each, client::Client, content, text};

const MIB: u64 = 1024 * 1024;
/// The text of one update of a flood, and how many there are: 32 MiB.
const CHUNK: usize = 16 * 1024;
const CHUNKS: usize = 2048;

/// Waits until a number does not grow any more, or is past a bound, but not for long: a database is held meanwhile. Gives
/// the number. On a busy machine it may be too small, never too large.
fn settled(bound: u64, mut number: impl FnMut() -> u64) -> u64 {
    let began = Instant::now();
    let (mut last, mut since) = (number(), began);
    while since.elapsed() < Duration::from_secs(1) && began.elapsed() < Duration::from_secs(5) && last < bound
    {
        std::thread::sleep(Duration::from_millis(10));
        let now = number();
        if now != last {
            (last, since) = (now, Instant::now());
        }
    }
    last
}

/// How much more memory a process needs at its peak than it has now.
struct Growth {
    pid: u32,
    before: Option<usize>,
}

impl Growth {
    fn of(pid: u32) -> Self {
        // From now on the peak is counted anew, where the system can do that.
        let _ = std::fs::write(format!("/proc/{pid}/clear_refs"), "5");
        Self { pid, before: peak_memory(pid) }
    }

    /// Nothing where the system does not tell.
    fn mebibytes(&self) -> u64 {
        let grown = peak_memory(self.pid).unwrap_or(0).saturating_sub(self.before.unwrap_or(0));
        println!("{} MiB", grown as u64 / MIB);
        grown as u64 / MIB
    }
}

/// A client that reads all the time and only counts.
struct Reader {
    process: Process,
    shown: usize,
    ends: usize,
}

impl Reader {
    fn of(client: Client) -> Self {
        Self { process: client.process, shown: 0, ends: 0 }
    }

    fn take(&mut self, message: &Value) {
        let update = &message["params"]["update"];
        if update["sessionUpdate"] == "agent_message_chunk" {
            self.shown += text(&update["content"]).len();
        }
        assert!(message.get("error").is_none(), "{message}");
        self.ends += usize::from(message["result"]["stopReason"].is_string());
        self.ends += usize::from(update["state"] == "idle" && update["stopReason"].is_string());
    }

    /// Reads what is there.
    fn read(&mut self) {
        while let Ok(Some(message)) = self.process.json_within(Duration::from_millis(1)) {
            self.take(&message);
        }
    }

    fn read_to_the_end(&mut self) {
        while self.ends == 0 {
            let message = self.process.next_json().expect("it goes on");
            self.take(&message);
        }
    }
}

/// How much is shown of a session that is loaded.
fn shown_again(place: &Place, session: &str) -> usize {
    let mut client = place.shared_client("", 1);
    client.load(session, &place.cwd());
    client
        .updates()
        .filter(|update| update["sessionUpdate"] == "agent_message_chunk")
        .map(|update| text(&update["content"]).len())
        .sum()
}

#[test]
fn a_fast_agent_waits_for_a_slow_disk_and_nothing_is_lost() {
    check_each([1, 2, 0], |readers| {
        let place = Place::new();
        let mut client = place.shared_client("", 1);
        client.new_session(&place.cwd());
        client.prompt(&format!("say ready; until go; flood {CHUNKS} {CHUNK}"));
        client.said("ready");
        let session = client.session.clone();
        let mut all = vec![Reader::of(client)];
        if readers == 2 {
            let mut other = place.shared_client("", 2);
            other.load(&session, &place.cwd());
            all.push(Reader::of(other));
        }
        all.truncate(readers);
        let held = Held::take(&place.data.path().join("sessions.db"));
        place.touch("go");
        let log = place.desk("log");
        let said = settled(24 * MIB, || {
            all.iter_mut().for_each(Reader::read);
            std::fs::metadata(&log).map_or(0, |log| log.len())
        });
        drop(held);
        assert!(said < 24 * MIB, "the agent has said {said} bytes to a disk that stands still");
        for reader in &mut all {
            reader.read_to_the_end();
            assert_eq!(reader.shown, CHUNKS * CHUNK);
        }
        if readers == 0 {
            let mut watcher = place.shared_client("", 2);
            watcher.load(&session, &place.cwd());
            watcher.until("the end", |message| message["params"]["update"]["state"] == "idle");
        }
        drop(all);
        assert_eq!(shown_again(&place, &session), CHUNKS * CHUNK + "ready".len());
    });
}

/// Asks the agent something that it answers at once, behind all that was asked before.
fn fence(client: &mut Client) {
    let params = json!({"sessionId": client.session});
    client.ask("_test/echo", &params);
}

#[test]
fn no_agent_hears_of_a_steer_that_is_not_on_disk() {
    check_each(TIERS, |(tier, options)| {
        let place = Place::new();
        let mut client = place.in_a_stream(options, 1);
        fence(&mut client);
        let held = Held::take(&place.data.path().join("sessions.db"));
        let params = json!({"sessionId": client.session, "mode": "steer", "content": content("say steered")});
        let steer = client.send("session/inject", &params);
        fence(&mut client);
        let heard = |place: &Place| {
            let lines = place.log().0;
            let is_it = |text: &str| text.contains("session/cancel") || text.contains("say steered");
            lines.into_iter().filter(|line| line.direction == '<' && is_it(&line.text)).collect::<Vec<_>>()
        };
        assert!(heard(&place).is_empty(), "{:#?}", heard(&place));
        drop(held);
        let id = client.result(steer)["messageId"].as_str().expect("it is accepted").to_owned();
        assert_eq!(client.delivered(&id), "say steered");
        eventually("the steer", || heard(&place).iter().any(|line| line.text.contains("say steered")));
        place.touch("go");
        client.turn_end(1);
        assert_eq!(heard(&place).iter().any(|line| line.text.contains("session/cancel")), tier == 4);
        assert_eq!(client.recall(), ["say one; until go; say two", "say steered"]);
    });
}

#[test]
fn no_agent_hears_of_a_permission_that_is_not_on_disk() {
    check_each(["", "--v2"], |options| {
        let place = Place::new();
        let mut client = place.session(options, 1);
        client.prompt("ask a");
        let request = client.agent_request();
        let held = Held::take(&place.data.path().join("sessions.db"));
        client.answer(&request, r#"{"outcome":{"outcome":"selected","optionId":"yes"}}"#);
        for _ in 0..3 {
            fence(&mut client);
        }
        let is_answer = |frame: &Value| frame["result"]["outcome"]["optionId"] == "yes";
        assert_eq!(place.log().place('<', is_answer), None);
        drop(held);
        client.said("a: selected yes");
        assert_eq!(client.turn_end(1), "end_turn");
    });
}

/// Stops a process or lets it go on.
fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args([name, &pid.to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()), "{pid} gets {name}");
}

#[test]
fn a_client_waits_for_an_agent_that_does_not_read() {
    const NOTES: u64 = 2560;
    let place = Place::new();
    let log = place.desk("log");
    let mut nudge = Command::new(env!("CARGO_BIN_EXE_nudge"))
        .args(["acp", "--", agent().to_str().expect("its name is text"), "--log", &log, "--ids", "s"])
        .env("NUDGE_DATA", place.data.path())
        .env("NUDGE_DAEMON", "off")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("it can be started");
    let mut input = nudge.stdin.take().expect("it is piped");
    let open = json!({"cwd": place.cwd(), "mcpServers": []});
    for (id, method, params) in [(1, "initialize", json!({"protocolVersion": 1})), (2, "session/new", open)] {
        writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .expect("it reads");
    }
    eventually("the session is there", || !place.log().heard("session/new").is_empty());
    let note = json!({"jsonrpc": "2.0", "id": 3, "method": "_test/echo", "params": {"sessionId": "s"}});
    writeln!(input, "{note}").expect("it reads");
    eventually("the agent has answered", || !place.log().heard("_test/echo").is_empty());
    let pid = place.log().newest();
    signal(pid, "-STOP");
    let grown = Growth::of(nudge.id());
    let written = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&written);
    let writer = std::thread::spawn(move || {
        let params = json!({"sessionId": "s", "text": "x".repeat(CHUNK)});
        let note = format!("{}\n", json!({"jsonrpc": "2.0", "method": "_test/note", "params": params}));
        for _ in 0..NOTES {
            input.write_all(note.as_bytes()).expect("it reads again");
            counted.fetch_add(note.len() as u64, Ordering::Relaxed);
        }
        input
    });
    let taken = settled(30 * MIB, || written.load(Ordering::Relaxed));
    let grown = grown.mebibytes();
    signal(pid, "-CONT");
    let input = writer.join().expect("all of it is written");
    assert!(taken < 30 * MIB, "{taken} bytes were taken for an agent that does not read");
    assert!(grown < 40, "{grown} MiB were needed");
    let count = || place.log().heard("_test/note").len() as u64;
    eventually("the agent has heard it all", || count() == NOTES);
    drop(input);
    assert!(nudge.wait().expect("it ends").success());
}

/// An agent that says 24 MiB of a session before it answers that there is one.
const TALKS_TOO_SOON: &str = r#"
while read -r line; do
  id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case $line in
  *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"protocolVersion":1,"agentCapabilities":{}}}' ;;
  *'"session/new"'*)
    text=$(head -c 131072 /dev/zero | tr '\0' x)
    for _ in $(seq 96); do
      printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":'
      printf '"agent_message_chunk","content":{"type":"text","text":"%s%s"}}}}\n' "$text" "$text"
    done
    echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"sessionId":"s"}}' ;;
  esac
done
"#;

#[test]
fn an_agent_that_says_too_much_of_a_session_before_there_is_one_is_refused() {
    let place = Place::new();
    let script = place.desk("agent.sh");
    std::fs::write(&script, TALKS_TOO_SOON).expect("it can be written");
    let process = place.nudge(&["acp", "--", "sh", &script], "off");
    let mut client = Client::new(process, 1, &json!({}));
    let refused = client.refused("session/new", &json!({"cwd": place.cwd(), "mcpServers": []}));
    let message = refused["message"].as_str().unwrap_or_default();
    assert!(message.contains("before it was opened"), "{refused}");
    assert_eq!(client.updates().count(), 0, "nothing of it is passed on");
}

/// A client that joins a session and does not read.
fn deaf(place: &Place, session: &str) -> std::process::Child {
    let mut deaf = Command::new(env!("CARGO_BIN_EXE_nudge"))
        .args(["acp", "--", agent().to_str().expect("its name is text"), "--log", &place.desk("log")])
        .env("NUDGE_DATA", place.data.path())
        .env("NUDGE_DAEMON", "on")
        .env("NUDGE_LINGER", "5")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it can be started");
    let load = json!({"sessionId": session, "cwd": place.cwd(), "mcpServers": []});
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "session/load", "params": load}),
    ];
    for line in lines {
        writeln!(deaf.stdin.as_mut().expect("it is piped"), "{line}").expect("it reads");
    }
    deaf
}

/// The process that runs the daemon of this place.
fn daemon(data: &Path) -> u32 {
    let is_it = |pid: &u32| {
        let cmdline = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        let place = format!("NUDGE_DATA={}", data.display());
        cmdline.split(|byte| *byte == 0).any(|word| word == b"daemon")
            && environ.split(|byte| *byte == 0).any(|word| word == place.as_bytes())
    };
    let pids = std::fs::read_dir("/proc").expect("this is Linux");
    let pids = pids.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.into_iter().find(is_it).expect("the daemon runs")
}

#[test]
fn a_client_that_joins_beside_one_that_does_not_read_costs_little() {
    if !cfg!(target_os = "linux") {
        return nudge_testkit::skipped("memory is measured by /proc");
    }
    let place = Place::new();
    let mut one = place.shared_client("", 2);
    one.new_session(&place.cwd());
    let session = one.session.clone();
    one.prompt(&format!("say ready; until go; flood {} {CHUNK}", 3 * CHUNKS));
    one.said("ready");
    let mut deaf = deaf(&place, &session);
    let mut watcher = place.shared_client("", 1);
    let mut clients = || watcher.ask("_nudge/status", &json!({}))["sessions"][0][1]["clients"].clone();
    eventually("it has joined", || clients() == 2);
    drop(one);
    eventually("it is alone", || clients() == 1);
    let mut two = place.shared_client("", 2);
    place.touch("go");
    let log = place.desk("log");
    let mut said = || std::fs::metadata(&log).map_or(0, |log| log.len());
    settled(u64::MAX, &mut said);
    let grown = Growth::of(daemon(place.data.path()));
    let held = Held::take(&place.data.path().join("sessions.db"));
    two.load(&session, &place.cwd());
    let mut two = Reader::of(two);
    settled(u64::MAX, || {
        two.read();
        said()
    });
    drop(held);
    two.read_to_the_end();
    let grown = grown.mebibytes();
    assert!(grown < 90, "{grown} MiB were needed");
    deaf.kill().expect("it runs");
    deaf.wait().expect("it has ended");
    assert_eq!(shown_again(&place, &session), 3 * CHUNKS * CHUNK + "ready".len());
}

#[test]
fn a_session_of_long_entries_is_loaded_a_few_at_a_time() {
    const LONG: usize = 4 * 1024 * 1024;
    let place = Place::new();
    let mut client = place.session("", 1);
    client.prompt(&format!("flood 16 {LONG}"));
    client.turn_end(1);
    let (session, pid) = (client.session.clone(), client.process.id());
    client.log.clear();
    let grown = Growth::of(pid);
    client.load(&session, &place.cwd());
    let grown = grown.mebibytes();
    assert!(grown < 80, "{grown} MiB were needed");
    let shown: usize = client.updates().map(|update| text(&update["content"]).len()).sum();
    assert_eq!(shown, 16 * LONG + format!("flood 16 {LONG}").len());
}
