//! What code says: documents with their syntax trees, tokens, the names that are declared and used in them, and the index
//! of a workspace.
//!
//! It is pure. A document is an [`AnalysedDocument`], which keeps what was found out about it from version to version and parses when
//! it is first asked for something that needs a tree, for as long as a [`ParsePatience`] lets it. Files that are not open are in
//! a [`WorkspaceIndex`].

mod arms;
mod balance;
mod behind;
mod call;
mod declaration;
mod enumeration;
mod grammar;
mod header;
pub mod imports;
mod index;
mod language;
mod literal;
mod names;
mod parsed;
mod path;
mod patience;
mod pattern;
mod placed;
mod role;
mod scope;
mod search;
mod source;
pub mod token;
mod uses;
mod words;
mod wrong;

pub use arms::{MatchArms, is_default_arm};
pub use call::{CallArgument, CallSite};
pub use declaration::{Declaration, declaration_at, declarations_in};
pub use enumeration::{EnumVariant, Enumeration, VariantPayload};
pub use grammar::{Grammar, NameSort, related};
pub use header::{FunctionHeader, FunctionParam};
pub use index::{
    CONTEXT_DEPTH, FileFacts, IndexAsker, Lexeme, Lexer, SeenToken, TokenId, WorkspaceIndex, skip_space,
};
pub use language::Language;
pub use literal::{LiteralField, StructLiteral, literals, struct_around};
pub use parsed::ParsedText;
pub use path::{NodePath, PathStep};
pub use patience::ParsePatience;
pub use pattern::is_pattern;
pub use placed::placed;
pub use role::{NameRole, role_at};
pub use scope::variable;
pub use source::{AnalysedDocument, HeldBytes};
pub use uses::{NameUse, NameUses, UseForm, uses_of};
pub use words::{contains_word, occurrences};

/// A node of a syntax tree.
pub use tree_sitter::Node;
