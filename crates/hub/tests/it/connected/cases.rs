//! A test that is run with several cases, side by side: what one waits for the others do not.

use std::{
    fmt::Debug,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
};

/// Runs a test in both versions.
pub(crate) async fn both(test: impl AsyncFn(u64)) {
    check_each([1, 2], test).await;
}

/// Runs a test with each case, and says of all of them whether they hold.
pub(crate) async fn check_each<C: Debug + Clone>(cases: impl IntoIterator<Item = C>, test: impl AsyncFn(C)) {
    let mut failed = Vec::new();
    let mut running: Vec<_> = cases.into_iter().map(|case| (case.clone(), Box::pin(test(case)))).collect();
    poll_fn(|cx| {
        running.retain_mut(|(case, run)| match poll(run.as_mut(), cx) {
            Some(holds) => {
                failed.extend((!holds).then(|| case.clone()));
                false
            }
            None => true,
        });
        if running.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    assert!(failed.is_empty(), "it does not hold for {failed:?}");
}

/// Whether a test has come to its end; `None` while it goes on.
fn poll(test: Pin<&mut impl Future<Output = ()>>, cx: &mut Context<'_>) -> Option<bool> {
    match catch_unwind(AssertUnwindSafe(|| test.poll(cx))) {
        Ok(Poll::Ready(())) => Some(true),
        Ok(Poll::Pending) => None,
        Err(_) => Some(false),
    }
}
