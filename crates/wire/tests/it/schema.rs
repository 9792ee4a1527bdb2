//! The schemas in `spec/schema` are those of the types.

#[cfg(feature = "schema")]
#[test]
fn schema_files_are_current() {
    for (path, text) in nudge_wire::schema::files() {
        let file = path.strip_prefix("schema/").expect("schemas are in spec/schema");
        assert!(
            crate::golden::schema_text(file) == text,
            "spec/{path} is out of date: write what `schema::files` returns"
        );
    }
}
