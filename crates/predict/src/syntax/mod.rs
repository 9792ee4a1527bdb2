//! What the predictors know about languages: which names are declared where, and what a use of a name means.

mod arms;
mod behind;
mod call;
mod declaration;
mod enumeration;
mod grammar;
mod header;
mod literal;
mod names;
mod parsed;
mod path;
mod pattern;
mod placed;
mod role;
mod runs;
mod scope;
mod uses;
mod words;
mod wrong;

pub(crate) use arms::{Arms, is_default};
pub(crate) use call::Call;
pub(crate) use declaration::{Declaration, declaration_at, declarations_in};
pub(crate) use enumeration::{Enumeration, Payload, Variant};
pub(crate) use grammar::{Grammar, Sort, related};
pub(crate) use header::{Header, Param};
pub(crate) use literal::{Element, Literal, literals, struct_around};
pub(crate) use parsed::{Parsed, Stale};
pub(crate) use path::Path;
pub(crate) use pattern::is_pattern;
pub(crate) use placed::placed;
pub(crate) use role::{Role, role_at};
pub(crate) use runs::{EditRun, edit_runs};
pub(crate) use scope::variable;
pub(crate) use uses::{Form, Use, Uses, uses_of};
pub(crate) use words::{contains, occurrences};
pub(crate) use wrong::Step;
