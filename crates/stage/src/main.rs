//! The stand-in provider, run by hand: `nudge-stage [--listen ADDRESS] [--script FILE]`.
#![allow(clippy::disallowed_methods, reason = "reads its script")]

use std::{error::Error, time::Duration};

use nudge_stage::{ExchangeOutcome, SeenRequest, StageProvider};

fn main() -> Result<(), Box<dyn Error>> {
    let mut address = "127.0.0.1:8089".to_owned();
    let mut script = None;
    let mut args = std::env::args().skip(1);
    while let Some(option) = args.next() {
        match (option.as_str(), args.next()) {
            ("--listen", Some(value)) => address = value,
            ("--script", Some(value)) => script = Some(value),
            _ => {
                return Err(
                    "usage: nudge-stage [--listen ADDRESS:PORT] [--script FILE.toml|FILE.json]".into()
                );
            }
        }
    }
    let provider = StageProvider::listen(address.parse()?)?;
    if let Some(script) = script {
        provider.add_script(&std::fs::read_to_string(script)?)?;
    }
    println!("{}", provider.url());
    tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(report(&provider));
    Ok(())
}

/// Says what came, each request once it is answered.
async fn report(provider: &StageProvider) {
    for index in 0.. {
        let is_next = |seen: &SeenRequest| seen.index == index && seen.outcome != ExchangeOutcome::Answering;
        println!("{}", provider.wait_for(is_next, Duration::MAX).await.summary());
    }
}
