//! How other files import a name.

use std::hash::BuildHasher;

use nudge_syntax::{
    AnalysedDocument, Language,
    imports::{ImportFacts, ImportStyle, ImportedName, KnownImport},
    related,
};
use rustc_hash::{FxBuildHasher, FxHashSet};

use crate::Scene;

/// Open documents that are looked at.
const MAX_DOCUMENTS: usize = 16;

/// What other files import, looked up by name.
pub(super) struct ImportRoutes<'a> {
    scene: &'a Scene<'a>,
    source: &'a AnalysedDocument,
    /// What the open documents import.
    open: Vec<(&'a AnalysedDocument, ImportFacts)>,
    /// Hashes of the names that they import.
    names: FxHashSet<u64>,
}

impl<'a> ImportRoutes<'a> {
    /// Reads the imports of the documents that can have something to do with `source`.
    pub(super) fn to(scene: &'a Scene<'a>, source: &'a AnalysedDocument) -> Self {
        let others = std::iter::once(scene.source).chain(scene.others);
        let open: Vec<(&AnalysedDocument, ImportFacts)> = others
            .filter(|other| other.uri() != source.uri() && related(other.language(), source.language()))
            .take(MAX_DOCUMENTS)
            .map(|other| (other, ImportFacts::of(other.language(), other.content())))
            .collect();
        let names =
            open.iter().flat_map(|(_, facts)| facts.iter()).map(|import| hash(&import.name)).collect();
        Self { scene, source, open, names }
    }

    /// Whether some other file imports a name.
    pub(super) fn know(&self, name: &str) -> bool {
        self.names.contains(&hash(name)) || !self.scene.index.imports(name).is_empty()
    }

    /// The way in which most other files import a name, as it is written in the source, and how many of them agree.
    pub(super) fn find(&self, name: &str) -> Option<(f32, ImportedName)> {
        let mut ways: Vec<(u32, ImportedName)> = Vec::new();
        let mut count =
            |files: u32, import: ImportedName| match ways.iter_mut().find(|(_, known)| *known == import) {
                Some((known, _)) => *known += files,
                None => ways.push((files, import)),
            };
        for (other, facts) in &self.open {
            for import in facts.iter().filter(|import| import.name == name) {
                if let Some(import) = seen_from(self.source, other.uri(), import) {
                    // What is open counts more than what is not.
                    count(3, import);
                }
            }
        }
        let known = self.scene.index.imports(name).iter();
        for known in known.filter(|known| related(known.language, self.source.language())) {
            if let Some(import) = adapted(self.source, known) {
                count(known.files, import);
            }
        }
        let total: u32 = ways.iter().map(|(files, _)| files).sum();
        let (files, import) = ways.into_iter().max_by(|a, b| a.0.cmp(&b.0).then_with(|| b.1.cmp(&a.1)))?;
        #[expect(clippy::cast_precision_loss, reason = "a share needs no precision")]
        Some((files as f32 / total as f32, import))
    }
}

fn hash(name: &str) -> u64 {
    FxBuildHasher.hash_one(name)
}

fn adapted(source: &AnalysedDocument, known: &KnownImport) -> Option<ImportedName> {
    seen_from(source, &known.uri, &known.import)
}

/// An import of the file `other` as `source` has to write it, if it can be told.
fn seen_from(source: &AnalysedDocument, other: &str, import: &ImportedName) -> Option<ImportedName> {
    let module = match source.language() {
        Language::Rust if import.module.starts_with("super") || import.module.starts_with("self") => {
            (folder(source.uri()) == folder(other)).then(|| import.module.clone())?
        }
        Language::Python if import.module.starts_with('.') => {
            (folder(source.uri()) == folder(other)).then(|| import.module.clone())?
        }
        Language::TypeScript | Language::Tsx | Language::JavaScript if import.module.starts_with('.') => {
            relative(folder(source.uri()), &resolved(folder(other), &import.module)?)
        }
        _ => import.module.clone(),
    };
    // `import a.b` is not for the sake of `a` alone.
    let is_inner =
        import.style == ImportStyle::Module && import.module.starts_with(&format!("{}.", import.name));
    if source.language() == Language::Python && is_inner && !source.content().contains(&import.module) {
        return None;
    }
    // A file does not import from itself, nor from its package.
    let stem = source.uri().rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or_default();
    let last = module.rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or_default();
    let path = source.uri().rsplit_once('.').map_or(&**source.uri(), |(path, _)| path);
    let is_own = match source.language() {
        Language::Python => path.ends_with(&format!("/{}", module.replace('.', "/"))),
        Language::Rust => module.strip_prefix("crate::").is_some_and(|module| {
            path.trim_end_matches("/mod").ends_with(&format!("/src/{}", module.replace("::", "/")))
        }),
        _ => module.starts_with("./") && module.matches('/').count() == 1 && last == stem,
    };
    let in_package = source.language() == Language::Java
        && source.content().lines().find_map(|line| line.strip_prefix("package ")?.trim().strip_suffix(';'))
            == Some(module.as_str());
    if is_own || in_package {
        return None;
    }
    Some(ImportedName { module, ..import.clone() })
}

fn folder(uri: &str) -> &str {
    uri.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The address that a relative module means.
fn resolved(folder: &str, module: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').collect();
    for part in module.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// An address as a relative module.
fn relative(folder: &str, target: &str) -> String {
    let (from, to): (Vec<&str>, Vec<&str>) = (folder.split('/').collect(), target.split('/').collect());
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from.len() - common;
    let start = if up == 0 { "./".to_owned() } else { "../".repeat(up) };
    format!("{start}{}", to[common..].join("/"))
}
