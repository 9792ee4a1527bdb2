//! The messages that carry a suggestion's id, once for each version.

/// The whole set for one version. `$id` is what that version calls a suggestion's id.
macro_rules! version {
    ($(#[$attr:meta])* $version:ident, $id:tt) => {
        $(#[$attr])*
        pub mod $version {
            use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
            use serde_json::{Map, Value};

            use crate::nes::shape::{methods, object};
            #[doc(no_inline)]
            pub use crate::nes::{
                ClientNesCapabilities, CloseRequest, CloseResponse, ContextCapabilities, Diagnostic,
                DiagnosticSeverity, DidChangeCapability, DocumentEventCapabilities, EditHistoryEntry, ErrorReason,
                EventCapabilities, FileExcerpt, LimitedCapability, NesCapabilities, Nullable, OpenFile, Position,
                PositionEncoding, Range, RecentFile, RejectReason, RelatedSnippet, NesRepository, StartRequest,
                StartResponse, SuggestContext, SupportedCapability, SyncKind, TextEdit, TriggerKind, UserAction,
                WorkspaceFolder,
            };

            object! {
                /// Asks what the user might do next at a place in a document.
                pub struct SuggestRequest as "SuggestNesRequest" {
                    /// The NES session.
                    session_id: String,
                    /// The document.
                    uri: String,
                    /// Its version; suggestions are about that text.
                    version: i64,
                    /// Where the cursor is.
                    position: Position,
                    /// Why it is asked.
                    trigger_kind: TriggerKind,
                }
                optional {
                    /// What is selected.
                    selection: Range,
                    /// What the agent wanted to know besides.
                    context: SuggestContext,
                }
            }

            object! {
                /// What the user might do next, best first; possibly nothing.
                pub struct SuggestResponse as "SuggestNesResponse" {
                    /// The suggestions.
                    suggestions: Vec<Suggestion>,
                }
            }

            object! {
                /// Change the text of a file.
                pub struct EditSuggestion as "NesEditSuggestion" {
                    /// Names the suggestion.
                    #[serde(rename = $id)]
                    id: String,
                    /// The file.
                    uri: String,
                    /// The changes; they do not overlap and all refer to the text before any of them.
                    edits: Vec<TextEdit>,
                }
                lenient {
                    /// Where the cursor goes afterwards.
                    cursor_position: Position,
                }
            }

            object! {
                /// Go to another place.
                pub struct JumpSuggestion as "NesJumpSuggestion" {
                    /// Names the suggestion.
                    #[serde(rename = $id)]
                    id: String,
                    /// The file.
                    uri: String,
                    /// The place in it.
                    position: Position,
                }
            }

            object! {
                /// Rename a symbol wherever it is used.
                pub struct RenameSuggestion as "NesRenameSuggestion" {
                    /// Names the suggestion.
                    #[serde(rename = $id)]
                    id: String,
                    /// A file the symbol is in.
                    uri: String,
                    /// A place in the symbol.
                    position: Position,
                    /// What it should be called.
                    new_name: String,
                }
            }

            object! {
                /// Replace a text wherever it stands.
                pub struct SearchAndReplaceSuggestion as "NesSearchAndReplaceSuggestion" {
                    /// Names the suggestion.
                    #[serde(rename = $id)]
                    id: String,
                    /// The file, or the folder with all the files in it.
                    uri: String,
                    /// What to look for.
                    search: String,
                    /// What to put in its place.
                    replace: String,
                }
                optional {
                    /// Whether `search` is a regular expression; it is not unless said so.
                    is_regex: bool,
                }
            }

            /// Something of a kind not known here, kept whole.
            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
            pub struct OtherSuggestion {
                /// Its kind.
                pub kind: String,
                /// Names the suggestion.
                #[serde(rename = $id)]
                pub id: String,
                /// All its other members, `_meta` among them.
                #[serde(flatten)]
                pub extra: Map<String, Value>,
            }

            /// One thing the user might do next.
            #[derive(Debug, Clone, PartialEq, Serialize)]
            #[serde(tag = "kind", rename_all = "camelCase")]
            pub enum Suggestion {
                /// Change text.
                Edit(EditSuggestion),
                /// Go elsewhere.
                Jump(JumpSuggestion),
                /// Rename a symbol.
                Rename(RenameSuggestion),
                /// Replace a text throughout.
                SearchAndReplace(SearchAndReplaceSuggestion),
                /// Something else.
                #[serde(untagged)]
                Other(OtherSuggestion),
            }

            impl Suggestion {
                /// Its id.
                pub fn id(&self) -> &str {
                    match self {
                        Self::Edit(suggestion) => &suggestion.id,
                        Self::Jump(suggestion) => &suggestion.id,
                        Self::Rename(suggestion) => &suggestion.id,
                        Self::SearchAndReplace(suggestion) => &suggestion.id,
                        Self::Other(suggestion) => &suggestion.id,
                    }
                }

                /// Its kind on the wire.
                pub fn kind(&self) -> &str {
                    match self {
                        Self::Edit(_) => "edit",
                        Self::Jump(_) => "jump",
                        Self::Rename(_) => "rename",
                        Self::SearchAndReplace(_) => "searchAndReplace",
                        Self::Other(suggestion) => &suggestion.kind,
                    }
                }
            }

            // Written out because serde would take a malformed suggestion of a known kind for an unknown one.
            impl<'de> Deserialize<'de> for Suggestion {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    let mut members = Map::deserialize(deserializer)?;
                    let kind = match members.shift_remove("kind") {
                        Some(Value::String(kind)) => kind,
                        Some(_) => return Err(D::Error::custom("invalid type of `kind`, expected a string")),
                        None => return Err(D::Error::missing_field("kind")),
                    };
                    let known = match kind.as_str() {
                        "edit" => members_to(members).map(Self::Edit),
                        "jump" => members_to(members).map(Self::Jump),
                        "rename" => members_to(members).map(Self::Rename),
                        "searchAndReplace" => members_to(members).map(Self::SearchAndReplace),
                        _ => {
                            members.insert("kind".to_owned(), kind.into());
                            members_to(members).map(Self::Other)
                        }
                    };
                    known.map_err(D::Error::custom)
                }
            }

            fn members_to<T: for<'de> Deserialize<'de>>(members: Map<String, Value>) -> serde_json::Result<T> {
                serde_json::from_value(Value::Object(members))
            }

            #[cfg(feature = "schema")]
            impl schemars::JsonSchema for Suggestion {
                fn schema_name() -> std::borrow::Cow<'static, str> {
                    "NesSuggestion".into()
                }
                fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                    let kinds = [
                        ("edit", generator.subschema_for::<EditSuggestion>()),
                        ("jump", generator.subschema_for::<JumpSuggestion>()),
                        ("rename", generator.subschema_for::<RenameSuggestion>()),
                        ("searchAndReplace", generator.subschema_for::<SearchAndReplaceSuggestion>()),
                    ];
                    crate::schema::tagged_by_kind("One thing the user might do next.", $id, &kinds)
                }
            }

            object! {
                /// The user took a suggestion.
                pub struct AcceptNotification as "AcceptNesNotification" {
                    /// The NES session.
                    session_id: String,
                    /// The suggestion.
                    #[serde(rename = $id)]
                    id: String,
                }
            }

            object! {
                /// The user did not take a suggestion.
                pub struct RejectNotification as "RejectNesNotification" {
                    /// The NES session.
                    session_id: String,
                    /// The suggestion.
                    #[serde(rename = $id)]
                    id: String,
                }
                lenient {
                    /// What became of it instead.
                    reason: RejectReason,
                }
            }

            methods! {
                SuggestRequest => SuggestResponse, "nes/suggest";
                AcceptNotification, "nes/accept";
                RejectNotification, "nes/reject";
            }
        }
    };
}

version! {
    /// The messages of the stable version: a suggestion's id is its `id`.
    v1, "id"
}

version! {
    /// The messages of the draft: a suggestion's id is its `suggestionId`.
    v2, "suggestionId"
}
