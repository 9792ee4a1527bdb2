//! Tests that are data: one run for each case, beside each other.

use std::{fmt::Debug, sync::Arc};

use tokio::sync::Semaphore;

/// Both versions of the protocol.
pub(crate) const VERSIONS: [u64; 2] = [1, 2];

/// How many run at one time: what ought to come at once has to come at once.
const AT_ONE_TIME: usize = 12;

/// Runs a test with each case, and says of all of them whether they hold.
pub(crate) async fn each<C, R>(cases: impl IntoIterator<Item = C>, test: impl Fn(C) -> R)
where
    C: Debug,
    R: Future<Output = ()> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(AT_ONE_TIME));
    let run = |case: C| {
        let (name, run, places) = (format!("{case:?}"), test(case), Arc::clone(&places));
        let run = async move {
            let _place = places.acquire_owned().await.expect("it is not closed");
            run.await;
        };
        (name, tokio::spawn(run))
    };
    let running: Vec<_> = cases.into_iter().map(run).collect();
    let mut failed = Vec::new();
    for (case, run) in running {
        if run.await.is_err() {
            failed.push(case);
        }
    }
    assert!(failed.is_empty(), "it does not hold for {failed:#?}");
}
