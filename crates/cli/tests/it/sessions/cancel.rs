//! `session/cancel` ends what the turn has started.

use super::{Client, Place, both};

#[test]
fn a_running_command_ends_with_everything_it_started() {
    both(|version| {
        let place = Place::new();
        let mut client = Client::running(&place, version, "run setsid sleep 987.25 & sleep 987.25");
        client.cancel();
        assert_eq!(client.turn_end(1), "cancelled");
        let left = || {
            let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
            processes
                .filter_map(|process| std::fs::read(process.path().join("cmdline")).ok())
                .filter(|line| line.windows(6).any(|part| part == b"987.25") && line.starts_with(b"sleep"))
                .count()
        };
        let patience = std::time::Instant::now() + nudge_testkit::PATIENCE;
        while left() > 0 {
            assert!(std::time::Instant::now() < patience, "{} processes are left", left());
            std::thread::yield_now();
        }
    });
}
