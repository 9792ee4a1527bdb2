//! Languages, and which grammar each has.

/// A language the engine knows something about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// Rust.
    Rust,
    /// TypeScript without JSX.
    TypeScript,
    /// TypeScript with JSX.
    Tsx,
    /// JavaScript, with or without JSX.
    JavaScript,
    /// Python.
    Python,
    /// Go.
    Go,
    /// Java.
    Java,
    /// C.
    C,
    /// C++.
    Cpp,
    /// C#.
    CSharp,
    /// JSON.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
    /// Markdown.
    Markdown,
    /// HTML.
    Html,
    /// CSS.
    Css,
    /// Anything else: handled by tokens.
    Other,
}

impl Language {
    /// The language of a document, by the id the editor gave it or else by its file name.
    pub fn of(id: Option<&str>, uri: &str) -> Self {
        id.and_then(Self::by_id).unwrap_or_else(|| Self::by_name(uri))
    }

    fn by_id(id: &str) -> Option<Self> {
        Some(match id {
            "rust" => Self::Rust,
            "typescript" => Self::TypeScript,
            "typescriptreact" | "tsx" => Self::Tsx,
            "javascript" | "javascriptreact" | "jsx" => Self::JavaScript,
            "python" => Self::Python,
            "go" => Self::Go,
            "java" => Self::Java,
            "c" => Self::C,
            "cpp" | "c++" => Self::Cpp,
            "csharp" | "c#" => Self::CSharp,
            "json" | "jsonc" => Self::Json,
            "toml" => Self::Toml,
            "yaml" => Self::Yaml,
            "markdown" => Self::Markdown,
            "html" => Self::Html,
            "css" => Self::Css,
            _ => return None,
        })
    }

    fn by_name(uri: &str) -> Self {
        let name = uri.rsplit('/').next().unwrap_or(uri);
        let Some((_, extension)) = name.rsplit_once('.') else { return Self::Other };
        match extension {
            "rs" => Self::Rust,
            "ts" | "mts" | "cts" => Self::TypeScript,
            "tsx" => Self::Tsx,
            "js" | "mjs" | "cjs" | "jsx" => Self::JavaScript,
            "py" | "pyi" => Self::Python,
            "go" => Self::Go,
            "java" => Self::Java,
            "c" => Self::C,
            "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" => Self::Cpp,
            "cs" => Self::CSharp,
            "json" | "jsonc" => Self::Json,
            "toml" => Self::Toml,
            "yml" | "yaml" => Self::Yaml,
            "md" | "markdown" => Self::Markdown,
            "html" | "htm" => Self::Html,
            "css" => Self::Css,
            _ => Self::Other,
        }
    }

    /// A lower-case name, for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::TypeScript | Self::Tsx => "typescript",
            Self::JavaScript => "javascript",
            Self::Python => "python",
            Self::Go => "go",
            Self::Java => "java",
            Self::C => "c",
            Self::Cpp => "c++",
            Self::CSharp => "c#",
            Self::Json => "json",
            Self::Toml => "toml",
            Self::Yaml => "yaml",
            Self::Markdown => "markdown",
            Self::Html => "html",
            Self::Css => "css",
            Self::Other => "other",
        }
    }

    /// Its grammar, if there is one.
    pub(crate) fn grammar(self) -> Option<tree_sitter::Language> {
        Some(match self {
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::Go => tree_sitter_go::LANGUAGE.into(),
            Self::Java => tree_sitter_java::LANGUAGE.into(),
            Self::C => tree_sitter_c::LANGUAGE.into(),
            Self::Cpp => tree_sitter_cpp::LANGUAGE.into(),
            Self::CSharp => tree_sitter_c_sharp::LANGUAGE.into(),
            Self::Json => tree_sitter_json::LANGUAGE.into(),
            Self::Toml => tree_sitter_toml_ng::LANGUAGE.into(),
            Self::Yaml => tree_sitter_yaml::LANGUAGE.into(),
            Self::Markdown => tree_sitter_md::LANGUAGE.into(),
            Self::Html => tree_sitter_html::LANGUAGE.into(),
            Self::Css => tree_sitter_css::LANGUAGE.into(),
            Self::Other => return None,
        })
    }
}
