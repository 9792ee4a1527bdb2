//! Imports come with the first use and go with the last, and are left alone otherwise.

use nudge_predict::PredictorName;

use crate::fixture::{self, Fixture, check_silent};

fn check(files: &[(&str, &str)]) {
    fixture::check(PredictorName::Import, files);
}

fn silent(files: &[(&str, &str)]) {
    check_silent(PredictorName::Import, files, 0.1);
}

#[test]
fn a_new_use_in_rust_goes_into_the_list_of_its_module() {
    check(&[
        (
            "file:///src/a.rs",
            "use std::collections::{BTreeMap⟨→, HashMap⟩};
use std::fs;

struct Cache {
    ⟦→names: HashMap<String, u32>,⟧
    map: BTreeMap<String, u32>,
}
",
        ),
        ("file:///src/b.rs", "use std::collections::HashMap;\n\nfn f(map: HashMap<u32, u32>) {}\n"),
    ]);
}

#[test]
fn a_second_name_makes_a_list() {
    check(&[
        (
            "file:///src/a.rs",
            "use crate::store::⟨Store→{Config, Store}⟩;

fn f(store: Store⟦→, config: Config⟧) {}
",
        ),
        ("file:///src/b.rs", "use crate::store::Config;\n\nfn f(config: Config) {}\n"),
    ]);
}

#[test]
fn a_new_line_goes_where_the_order_wants_it() {
    check(&[
        (
            "file:///src/a.rs",
            "use std::fmt;
⟨→use std::path::Path;
⟩use std::sync::Arc;

use serde::Serialize;

fn f(a: Arc<u32>⟦→, path: &Path⟧) {}
",
        ),
        ("file:///src/b.rs", "use std::path::Path;\n\nfn f(path: &Path) {}\n"),
    ]);
}

#[test]
fn the_index_knows_too() {
    Fixture::new(
        PredictorName::Import,
        &[(
            "file:///src/a.rs",
            "use std::fmt;⟨→
use std::time::Duration;⟩

fn f(⟦→wait: Duration⟧) {}
",
        )],
    )
    .indexed("file:///src/b.rs", "use std::time::Duration;\n")
    .check(0.3);
}

#[test]
fn typescript_lists_relative_modules_and_types() {
    check(&[
        (
            "file:///src/ui/view.ts",
            "import { render⟨→, resize⟩ } from '../draw/canvas';
import { log } from './log';

export function show() {
    render();
    ⟦→resize();⟧
    log('shown');
}
",
        ),
        (
            "file:///src/main.ts",
            "import { render, resize } from './draw/canvas';

resize();
render();
",
        ),
    ]);
    check(&[
        (
            "file:///src/a.ts",
            "import { log } from './log';⟨→
import type { Options } from './options';⟩

export function show(⟦→options: Options⟧) {
    log('shown');
}
",
        ),
        ("file:///src/b.ts", "import type { Options } from './options';\n\nexport const o: Options = {};\n"),
    ]);
}

#[test]
fn python_modules_and_names() {
    check(&[
        (
            "file:///app/a.py",
            "⟨→import json
⟩import os
from typing import Any⟨→, Optional⟩


def load(path⟦→: Optional[str]⟧) -> Any:
    ⟦return read(path)→return json.loads(read(path))⟧
",
        ),
        (
            "file:///app/b.py",
            "import json
from typing import Optional


def f(x: Optional[str]):
    return json.dumps(x)
",
        ),
    ]);
}

#[test]
fn go_packages_go_into_their_group() {
    check(&[
        (
            "file:///a.go",
            "package a

import (
	\"fmt\"
	\"os\"
⟨→	\"strings\"
⟩
	\"github.com/pkg/errors\"
)

func f(name string) {
	fmt.Println(os.Args, errors.New(\"x\"))
	⟦→fmt.Println(strings.ToUpper(name))⟧
}
",
        ),
        ("file:///b.go", "package a\n\nimport (\n\t\"strings\"\n)\n\nvar x = strings.ToLower(\"X\")\n"),
    ]);
}

#[test]
fn java_classes_are_sorted() {
    check(&[
        (
            "file:///A.java",
            "package a;

import java.util.ArrayList;
⟨→import java.util.List;
⟩import java.util.Map;

class A {
    Map<String, ArrayList<String>> map;
    ⟦→List<String> names;⟧
}
",
        ),
        ("file:///B.java", "package a;\n\nimport java.util.List;\n\nclass B {\n    List<String> x;\n}\n"),
    ]);
}

#[test]
fn an_import_goes_with_its_last_use() {
    check(&[(
        "file:///src/a.rs",
        "⟨use std::collections::HashMap;
→⟩use std::sync::Arc;

struct Cache {
    ⟦map: HashMap<String, u32>→map: Map⟧,
    arc: Arc<u32>,
}
",
    )]);
    check(&[(
        "file:///src/a.rs",
        "use std::collections::⟨{BTreeMap, HashMap}→BTreeMap⟩;

struct Cache {
⟦    map: HashMap<String, u32>,
→⟧    tree: BTreeMap<u32, u32>,
}
",
    )]);
    check(&[(
        "file:///src/a.ts",
        "import { a, ⟨b, →⟩c } from './m';

a();
⟦b();
→⟧c();
",
    )]);
    check(&[(
        "file:///a.py",
        "import os
⟨import sys
→⟩from typing import Any⟨, Optional→⟩


def f(x: Any⟦, y: Optional[str]→⟧):
⟦    sys.exit(1)
→⟧    return os.getcwd()
",
    )]);
}

#[test]
fn nobody_is_tidied_up_after() {
    silent(&[(
        "file:///src/a.rs",
        "use std::collections::HashMap;
use std::sync::Arc;

fn f() {
    ⟦old();→new();⟧
}
",
    )]);
}

#[test]
fn what_the_file_declares_is_not_imported() {
    silent(&[
        ("file:///src/a.rs", "struct Config;\n\nfn f(⟦→config: Config⟧) {}\n"),
        ("file:///src/b.rs", "use crate::other::Config;\n\nfn f(config: Config) {}\n"),
    ]);
    silent(&[
        ("file:///src/a.ts", "export function f(thing) {\n    ⟦→thing.resize();⟧\n}\n"),
        ("file:///src/b.ts", "import { resize } from './m';\nresize();\n"),
    ]);
}

#[test]
fn what_is_used_elsewhere_in_the_file_is_known() {
    silent(&[
        ("file:///src/a.ts", "describe('a', () => {\n    vi.fn();\n});\n\n⟦→vi.fn();\n⟧"),
        ("file:///src/b.ts", "import { vi } from 'vitest';\nvi.fn();\n"),
    ]);
    silent(&[
        ("file:///a/A.java", "package a;\n\nclass A {\n    ⟦→Thing thing;⟧\n}\n"),
        ("file:///b/B.java", "package b;\n\nimport a.Thing;\n\nclass B {\n    Thing thing;\n}\n"),
    ]);
}
