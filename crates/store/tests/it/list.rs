//! Lists of sessions: order, filters, pages.

use nudge_store::{SessionChange, SessionCursor, SessionFilter, SessionRow, Store, StoreOp};

use crate::support::{created, lease, memory, session, write};

async fn add(store: &dyn Store, session: SessionRow) {
    let lease = lease(store, &session.id).await;
    write(store, &lease, vec![StoreOp::CreateSession(session)]).await.expect("created");
}

/// The ids of all sessions that pass, read in pages of `limit`.
async fn ids(store: &dyn Store, filter: &SessionFilter, limit: u32) -> Vec<String> {
    let (mut ids, mut after) = (Vec::new(), None);
    loop {
        let page = store.sessions(filter, after.as_ref(), limit).await.expect("a page");
        assert!(page.sessions.len() <= limit as usize);
        ids.extend(page.sessions.iter().map(|session| session.id.to_string()));
        let Some(next) = page.next else { return ids };
        assert_eq!(page.sessions.len(), limit as usize);
        // As a client gives it back.
        after = Some(next.to_string().parse::<SessionCursor>().expect("a cursor"));
    }
}

#[tokio::test]
async fn the_last_changed_comes_first_and_ties_go_by_id() {
    let store = memory().await;
    for (id, updated_at) in [("b", 5), ("a", 5), ("c", 5), ("ü", 9), ("d", 1), ("e", 5)] {
        add(&*store, SessionRow { updated_at, ..session(id) }).await;
    }
    for limit in [1, 2, 3, 5, 6, 100] {
        let all = ids(&*store, &SessionFilter::default(), limit).await;
        assert_eq!(all, ["ü", "a", "b", "c", "e", "d"], "in pages of {limit}");
    }
}

#[tokio::test]
async fn filters() {
    let store = memory().await;
    for (id, title, cwd, created_at, closed) in [
        ("s1", Some("Fix 100% of IT"), "/a", 10, false),
        ("s2", Some("fix_100 of it"), "/a/", 20, true),
        ("s3", None, "/a", 30, true),
        ("Ärger", Some("back\\slash ÜBER"), "/b", 40, false),
        ("s5", Some("straße\u{1f}s1\0end"), "/b", 50, false),
    ] {
        let updated_at = 1_000 - created_at;
        let title = title.map(str::to_owned);
        let cwd = cwd.to_owned();
        add(&*store, SessionRow { title, cwd, created_at, updated_at, closed, ..session(id) }).await;
    }
    let any = SessionFilter::default;
    let search = |text: &str| SessionFilter { search: Some(text.to_owned()), ..any() };
    let cwd = |path: &str| SessionFilter { cwd: Some(path.to_owned()), ..any() };
    for (filter, expected) in [
        (any(), vec!["s1", "s2", "s3", "Ärger", "s5"]),
        (cwd("/a"), vec!["s1", "s3"]),
        (cwd("/A"), vec![]),
        (SessionFilter { created_after: Some(20), ..any() }, vec!["s3", "Ärger", "s5"]),
        (SessionFilter { closed: Some(true), ..any() }, vec!["s2", "s3"]),
        (SessionFilter { closed: Some(false), ..any() }, vec!["s1", "Ärger", "s5"]),
        (search("FIX"), vec!["s1", "s2"]),
        (search("100%"), vec!["s1"]),
        (search("x_1"), vec!["s2"]),
        (search("k\\S"), vec!["Ärger"]),
        (search("über"), vec!["Ärger"]),
        (search("ärg"), vec!["Ärger"]),
        (search("S3"), vec!["s3"]),
        (search("s1"), vec!["s1", "s5"]),
        (search("its1"), vec![]),
        (search("it\u{1f}s1"), vec![]),
        (search("END"), vec!["s5"]),
        (search("s3\0x"), vec![]),
        (search(&"%".repeat(50_000)), vec![]),
        (search(""), vec!["s1", "s2", "s3", "Ärger", "s5"]),
        (SessionFilter { closed: Some(true), created_after: Some(20), ..cwd("/a") }, vec!["s3"]),
        (SessionFilter { closed: Some(true), cwd: Some("/a".into()), ..search("s") }, vec!["s3"]),
    ] {
        for limit in [1, 100] {
            assert_eq!(ids(&*store, &filter, limit).await, expected, "{filter:?}");
        }
    }
}

#[tokio::test]
async fn a_changed_title_is_found() {
    let store = memory().await;
    let lease = created(&*store, "s").await;
    for (title, looked_for, found) in [
        (Some("New name"), "new NAME", 1),
        (Some("Other"), "new name", 0),
        (None, "other", 0),
        (None, "S", 1),
    ] {
        let change = SessionChange { title: Some(title.map(str::to_owned)), ..SessionChange::default() };
        write(&*store, &lease, vec![StoreOp::UpdateSession(change)]).await.expect("changed");
        let filter = SessionFilter { search: Some(looked_for.to_owned()), ..SessionFilter::default() };
        let page = store.sessions(&filter, None, 10).await.expect("a page");
        assert_eq!(page.sessions.len(), found, "{title:?}, {looked_for}");
    }
}

#[tokio::test]
async fn pages_stay_in_step_while_sessions_are_added() {
    let store = memory().await;
    for n in 0..6 {
        add(&*store, SessionRow { updated_at: 100 + n, ..session(&format!("s{n}")) }).await;
    }
    let any = SessionFilter::default();
    let first = store.sessions(&any, None, 3).await.expect("a page");
    add(&*store, SessionRow { updated_at: 500, ..session("new") }).await;
    let second = store.sessions(&any, first.next.as_ref(), 3).await.expect("a page");
    let both = first.sessions.iter().chain(&second.sessions);
    let ids: Vec<&str> = both.map(|session| &*session.id).collect();
    assert_eq!(ids, ["s5", "s4", "s3", "s2", "s1", "s0"]);
    assert_eq!(second.next, None);
}

#[test]
fn only_cursors_are_cursors() {
    for text in ["", ".", "1", "x.00", "1.0", "1.zz", "1.ff", "1.é", "1.+1", "+1.00", "1.00.00"] {
        let read = text.parse::<SessionCursor>();
        assert!(read.is_err(), "{text:?} was read as {read:?}");
    }
}
