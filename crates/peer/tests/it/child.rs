//! An agent as a child process.

use std::{io::Write, sync::Arc};

use nudge_peer::{CallError, ChildProgram, ConnectionClosed, Peer};
use nudge_testkit::{eventually, example, is_alive};
use nudge_wire::RawJson;
use parking_lot::Mutex;

use crate::messages::echo;

fn fixture() -> ChildProgram {
    ChildProgram::new(example("nudge-peer", "peer_fixture")).name("fixture")
}

fn json(text: &str) -> RawJson {
    RawJson::parse(text.to_owned()).unwrap()
}

#[tokio::test]
async fn a_child_answers_and_leaves_when_the_connection_is_done() {
    let connection = Peer::client().connect(fixture()).unwrap();
    let answer = connection.run_until(async |cx| cx.request(echo("over a pipe")).await).await;
    assert_eq!(answer.unwrap().body, "over a pipe");
}

#[tokio::test]
async fn everything_a_child_started_goes_with_it() {
    let connection = Peer::client().connect(fixture()).unwrap();
    let cx = connection.cx();
    let served = tokio::spawn(connection.serve());
    let family: Vec<u32> = cx.request_raw("test/breed", None).await.unwrap().to().unwrap();
    assert_eq!(family.len(), 3);
    assert!(family.iter().all(|pid| is_alive(*pid)), "{family:?}");
    served.abort();
    let _ = served.await;
    eventually("the death of the family", || !family.iter().any(|pid| is_alive(*pid)));
}

#[tokio::test]
async fn an_exit_is_reported_with_status_and_last_words() {
    let connection = Peer::client().connect(fixture()).unwrap();
    let cx = connection.cx();
    let served = tokio::spawn(connection.serve());
    let leave = json(r#"{"status":7}"#);
    let Err(CallError::Closed(ConnectionClosed::Exited(report))) =
        cx.request_raw("test/leave", Some(&leave)).await
    else {
        panic!("the caller learns of the exit")
    };
    assert_eq!(report.status.and_then(|status| status.code()), Some(7));
    assert_eq!(report.stderr, ["something is wrong", "the key was ***", "leaving with 7"]);
    let text = report.to_string();
    assert!(text.starts_with("`fixture` ended (exit status: 7); its last lines"), "{text}");
    assert!(matches!(served.await.unwrap(), Err(ConnectionClosed::Exited(_))));
}

#[tokio::test]
async fn standard_error_goes_to_the_log_under_the_name_of_the_agent() {
    #[derive(Clone, Default)]
    struct Buffer(Arc<Mutex<Vec<u8>>>);
    impl Write for Buffer {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let buffer = Buffer::default();
    let writer = buffer.clone();
    let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let connection = Peer::client().connect(fixture()).unwrap();
    let leave = json(r#"{"status":0}"#);
    let _ = connection.run_until(async |cx| cx.request_raw("test/leave", Some(&leave)).await).await;
    let log = String::from_utf8(buffer.0.lock().clone()).unwrap();
    assert!(log.contains("INFO agent: something is wrong agent=\"fixture\""), "{log}");
    assert!(log.contains("the key was ***") && !log.contains("sk-0123"), "{log}");
}

#[tokio::test]
async fn a_program_that_does_not_start_says_so() {
    let error = Peer::client().connect(ChildProgram::new("no-such-agent-here")).unwrap_err();
    assert!(error.to_string().starts_with("cannot start `no-such-agent-here`"), "{error}");
    assert!(error.to_string().ends_with("is it installed and on PATH?"), "{error}");
}

#[tokio::test]
async fn a_child_that_ends_at_once_is_an_exit_and_not_a_broken_pipe() {
    for _ in 0..20 {
        ends_at_once().await;
    }
}

async fn ends_at_once() {
    let connection =
        Peer::client().connect(ChildProgram::new("sh").args(["-c", "echo gone >&2; exit 3"])).unwrap();
    let failed = connection.run_until(async |cx| cx.request(echo("x")).await).await;
    let Err(CallError::Closed(ConnectionClosed::Exited(report))) = failed else { panic!("{failed:?}") };
    assert_eq!(report.status.and_then(|status| status.code()), Some(3));
    assert_eq!(report.stderr, ["gone"]);
}

#[tokio::test]
async fn a_child_that_ends_is_noticed_even_if_its_output_is_held_open() {
    let connection =
        Peer::client().connect(ChildProgram::new("sh").args(["-c", "sleep 1000 & exit 3"])).unwrap();
    let failed = connection.run_until(async |cx| cx.request(echo("x")).await).await;
    let Err(CallError::Closed(ConnectionClosed::Exited(report))) = failed else { panic!("{failed:?}") };
    assert_eq!(report.status.and_then(|status| status.code()), Some(3));
}

#[tokio::test]
async fn the_family_of_a_child_that_has_children_by_the_same_means_goes_too() {
    let connection = Peer::client().connect(fixture()).unwrap();
    let cx = connection.cx();
    let served = tokio::spawn(connection.serve());
    let family: Vec<u32> = cx.request_raw("test/nest", None).await.unwrap().to().unwrap();
    assert!(family.len() == 3 && family.iter().all(|pid| is_alive(*pid)), "{family:?}");
    served.abort();
    let _ = served.await;
    eventually("the death of the family", || !family.iter().any(|pid| is_alive(*pid)));
}

#[tokio::test]
async fn a_child_is_given_a_moment_to_leave_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("saved");
    let script = format!("cat >/dev/null; sleep 0.2; echo saved > {}", saved.display());
    let connection = Peer::client().connect(ChildProgram::new("sh").args(["-c", &script])).unwrap();
    let cx = connection.cx();
    cx.close();
    connection.serve().await.unwrap();
    assert_eq!(std::fs::read_to_string(saved).unwrap(), "saved\n");
}
