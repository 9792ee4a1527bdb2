//! A request whose computing takes as long as it is wanted.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use nudge_nes::{NesEngine, NesOptions, NesService, Scene, SuggestOutcome};
use nudge_peer::{CallError, Cx, Peer, pair};
use nudge_testkit::eventually;
use nudge_wire::{
    ErrorCode, RawJson, Version,
    caps::{AgentInit, ClientInit},
    document::DidOpen,
    nes::{CloseRequest, StartRequest, TriggerKind, v1},
};

use super::NesMethods;

/// An engine that does not come to an end by itself where the cursor is at the beginning, and fails on the second line.
#[derive(Default)]
struct Stuck {
    begun: AtomicUsize,
    ended: AtomicUsize,
}

impl NesEngine for Stuck {
    fn name(&self) -> &'static str {
        "stuck"
    }

    fn suggest(&self, scene: &Scene<'_>) -> SuggestOutcome {
        self.begun.fetch_add(1, Ordering::Relaxed);
        assert!(scene.cursor < 4, "the second line is too much");
        while scene.cursor == 0 && !(scene.cancelled)() {
            std::thread::yield_now();
        }
        self.ended.fetch_add(1, Ordering::Relaxed);
        SuggestOutcome::default()
    }
}

/// Runs a client against a connection with such an engine; it gets the id of a session with a document.
fn check(client: impl AsyncFnOnce(Cx, String, Arc<Stuck>)) {
    let engine = Arc::new(Stuck::default());
    let service =
        NesService::new(NesOptions { engine: engine.clone(), index: false, ..NesOptions::default() });
    let nes = NesMethods::new(service, None);
    let empty = || RawJson::parse("{}".to_owned()).unwrap();
    let client_init = ClientInit::new(Version::V1, empty());
    nes.initialize(&client_init, AgentInit::new(Version::V1, empty())).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (near, far) = pair();
        let agent = tokio::spawn(nes.handlers(Peer::agent()).serve(near));
        let connection = Peer::client().connect(far).unwrap();
        connection
            .run_until(async |cx: Cx| {
                let session = cx.request(StartRequest::default()).await.unwrap().session_id;
                let opened = DidOpen::new(&session, "file:///a.rs", "rust", 1, "abc\ndef\n");
                cx.notify(opened).await.unwrap();
                client(cx, session, Arc::clone(&engine)).await;
            })
            .await;
        agent.await.unwrap().unwrap();
    });
    let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
    eventually("the end of all computing", || count(&engine.begun) <= count(&engine.ended) + 1);
}

fn ask(session: &str, line: u32, character: u32) -> v1::SuggestRequest {
    let position = v1::Position::new(line, character);
    v1::SuggestRequest::new(session, "file:///a.rs", 1, position, TriggerKind::Manual)
}

fn code<T: std::fmt::Debug>(answer: Result<T, CallError>) -> ErrorCode {
    match answer {
        Err(CallError::Rpc(error)) => error.code,
        other => panic!("expected an error: {other:?}"),
    }
}

/// Lets everything else go on until `done`.
async fn until(done: impl Fn() -> bool) {
    while !done() {
        tokio::task::yield_now().await;
    }
}

#[test]
fn a_newer_request_ends_the_computing_of_an_older_one() {
    check(async |cx, session, engine| {
        let older = cx.request(ask(&session, 0, 0));
        let mut older = std::pin::pin!(older);
        let begun = until(|| engine.begun.load(Ordering::Relaxed) == 1);
        tokio::select! {
            answer = &mut older => panic!("{answer:?}"),
            () = begun => {}
        }
        let newer = cx.request(ask(&session, 0, 1)).await.expect("the newer one is answered");
        assert!(newer.suggestions.is_empty());
        assert_eq!(code(older.await), ErrorCode::REQUEST_CANCELLED);
        until(|| engine.ended.load(Ordering::Relaxed) == 2).await;
    });
}

#[test]
fn a_cancelled_request_ends_its_computing() {
    check(async |cx, session, engine| {
        {
            let given_up = cx.request(ask(&session, 0, 0));
            let begun = until(|| engine.begun.load(Ordering::Relaxed) == 1);
            tokio::select! {
                answer = given_up => panic!("{answer:?}"),
                () = begun => {}
            }
        }
        until(|| engine.ended.load(Ordering::Relaxed) == 1).await;
    });
}

#[test]
fn closing_the_session_ends_its_computing() {
    check(async |cx, session, engine| {
        let mut running = std::pin::pin!(cx.request(ask(&session, 0, 0)));
        let begun = until(|| engine.begun.load(Ordering::Relaxed) == 1);
        tokio::select! {
            answer = &mut running => panic!("{answer:?}"),
            () = begun => {}
        }
        cx.request(CloseRequest::new(&session)).await.expect("the session is closed");
        assert_eq!(code(running.await), ErrorCode::REQUEST_CANCELLED);
        assert_eq!(code(cx.request(ask(&session, 0, 1)).await), ErrorCode::RESOURCE_NOT_FOUND);
    });
}

#[test]
fn an_engine_that_fails_does_not_take_the_connection_along() {
    check(async |cx, session, _| {
        assert_eq!(code(cx.request(ask(&session, 1, 1)).await), ErrorCode::INTERNAL_ERROR);
        assert!(cx.request(ask(&session, 0, 1)).await.is_ok());
    });
}
