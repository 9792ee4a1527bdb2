//! A way to the stand-in that can be closed.

use nudge_stage::StageProvider;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
};

/// A way to the stand-in through which nothing gets until it is opened.
pub(crate) struct ClosedWay {
    pub(crate) url: String,
    open: watch::Sender<bool>,
    reached: watch::Receiver<usize>,
}

impl ClosedWay {
    pub(crate) async fn to(stage: &StageProvider) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("it has an address"));
        let (open, is_open) = watch::channel(false);
        let (came, reached) = watch::channel(0);
        let there = stage.address();
        tokio::spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                came.send_modify(|count| *count += 1);
                let mut is_open = is_open.clone();
                tokio::spawn(async move {
                    if is_open.wait_for(|is_open| *is_open).await.is_ok()
                        && let Ok(mut far) = TcpStream::connect(there).await
                    {
                        // It ends with either of them.
                        let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
                    }
                });
            }
        });
        Self { url, open, reached }
    }

    /// Waits until somebody wants to get through.
    pub(crate) async fn reached(&mut self) {
        let came = tokio::time::timeout(super::PATIENCE, self.reached.wait_for(|count| *count > 0)).await;
        came.expect("somebody comes soon").expect("the way is there");
    }

    pub(crate) fn open(&self) {
        self.open.send_replace(true);
    }
}
