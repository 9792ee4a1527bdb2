//! `--trace`: every frame, both directions, no secrets.

use serde_json::Value;

use crate::nudge;

#[test]
fn a_trace_holds_every_frame_and_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.jsonl");
    let mut nudge = nudge(&["acp", "--trace", path.to_str().unwrap()]);
    nudge.line(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"_meta":{"apiKey":"hush-1"}}}"#);
    nudge.line(r#"{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"mcpServers":[{"env":[{"name":"K","value":"hush-2"}],"headers":[{"name":"A","value":"hush-3"}]}]}}"#);
    nudge.line(r#"{"jsonrpc":"2.0","method":"x","params":{"headers":{"authorization":"Bearer hush-4"}}}"#);
    nudge.line("hush-5 is no JSON");
    let (status, lines, _) = nudge.finish();
    assert!(status.success());
    assert_eq!(lines.len(), 3);
    let trace = std::fs::read_to_string(&path).unwrap();
    assert!(!trace.contains("hush"), "{trace}");
    let records: Vec<Value> = trace.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count = |direction: &str| records.iter().filter(|record| record["direction"] == direction).count();
    assert_eq!((count("in"), count("out")), (4, 3));
    let times: Vec<f64> = records.iter().map(|record| record["time"].as_f64().unwrap()).collect();
    assert!(times.is_sorted() && times[0] > 1.7e9);
    assert_eq!(records[0]["frame"]["params"]["_meta"]["apiKey"], "***");
    assert!(records.iter().any(|record| record["unreadable"] == 17));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
