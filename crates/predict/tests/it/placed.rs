//! An import goes where the order of the file wants it.

use nudge_predict::PredictorName;

use crate::fixture::{self, check_silent};

/// A document in which a name is used now, and another one that imports it.
fn check(name: &str, text: &str, other: &str) {
    let (_, ending) = name.rsplit_once('.').expect("a name has an ending");
    let uri = format!("file:///src/{name}");
    fixture::check(PredictorName::Import, &[(&uri, text), (&format!("file:///lib/other.{ending}"), other)]);
}

#[test]
fn java_has_types_before_packages() {
    check(
        "A.java",
        "import com.google.gson.Gson;
⟨→import com.google.gson.TypeAdapter;
⟩import com.google.gson.stream.JsonReader;

class A {
    Gson gson;
    JsonReader reader;
    ⟦→TypeAdapter adapter;⟧
}
",
        "import com.google.gson.TypeAdapter;\n",
    );
}

#[test]
fn those_of_one_package_may_be_in_order_though_the_whole_is_not() {
    check(
        "A.java",
        "import org.junit.Test;
import java.util.List;
⟨→import java.util.Map;
⟩import java.util.Set;
import com.acme.Tool;

class A {
    List<Set<Tool>> all;
    ⟦→Map<String, Tool> map;⟧
    @Test public void works() {}
}
",
        "import java.util.Map;\n",
    );
}

#[test]
fn what_is_static_is_kept_apart() {
    check(
        "ATest.java",
        "package a;

⟨→import static org.junit.Assert.assertEquals;

⟩import org.junit.Test;

class ATest {
    @Test public void works() { ⟦→assertEquals(1, 1);⟧ }
}
",
        "import static org.junit.Assert.assertEquals;\n",
    );
}

#[test]
fn python_has_sections() {
    let cases = [
        "⟨→import json

⟩import click

def f():
    click.echo(⟦\"\"→json.dumps({})⟧)
",
        "import io
⟨→import json
⟩import os

import click

def f():
    click.echo(⟦\"\"→json.dumps({})⟧)
",
        "from __future__ import annotations⟨→

import json⟩

from .names import first

def f():
    first(⟦\"\"→json.dumps({})⟧)
",
        // By their modules, whatever the form.
        "from abc import ABC
import io
⟨→import json
⟩from os import environ
import sys

def f():
    return ⟦0→json.dumps(environ)⟧
",
        "\"\"\"What this is about.

And more.
\"\"\"⟨→

import json⟩

def f():
    return ⟦0→json.dumps({})⟧
",
    ];
    for case in cases {
        check("a.py", case, "import json\n");
    }
}

#[test]
fn names_in_a_list_are_sorted_as_in_the_other_lists() {
    let other = "from .size import measure_all\n";
    let cases = [
        "from .size import Measurement⟨→, measure_all⟩\n\n\ndef f():\n    ⟦pass→measure_all(Measurement)⟧\n",
        "from .names import bill, Carl\nfrom .size import ⟨→measure_all, ⟩Measurement\n\n\ndef f():\n    ⟦pass→measure_all(Measurement)⟧\n",
    ];
    for case in cases {
        fixture::check(PredictorName::Import, &[("file:///src/a.py", case), ("file:///src/b.py", other)]);
    }
    check(
        "a.rs",
        "use crate::exit::{⟨→merge, ⟩ExitCode};

fn f(code: ExitCode) {
    ⟦→merge(code);⟧
}
",
        "use crate::exit::merge;\n",
    );
}

#[test]
fn names_from_one_module_share_a_statement() {
    check(
        "a.ts",
        "import { z } from 'alpha'⟨→
import { first, second } from 'words'⟩

export const all = [z, ⟦0→second, first⟧]
",
        "import { first, second } from 'words'\n",
    );
    check(
        "a.rs",
        "use crate::words::⟨Other→{Other, first, second}⟩;
use std::cmp::{Ordering, max};

fn f(other: Other) -> Ordering {
    ⟦→first(max(1, second()));⟧
}
",
        "use crate::words::{first, second};\n",
    );
    check(
        "A.cs",
        "using System;⟨→
using System.Collections.Generic;⟩

class A
{
    ⟦→List<int> list; IDictionary<int, int> more;⟧
}
",
        "using System.Collections.Generic;\n\nclass B\n{\n    List<int> list;\n}\n",
    );
}

#[test]
fn what_holds_for_one_statement_stays_with_it() {
    check(
        "a.rs",
        "⟨→use crate::words::first;
⟩#[cfg(unix)]
use std::os::unix::fs::symlink;

fn f() {
    ⟦→first();⟧
}
",
        "use crate::words::first;\n",
    );
}

#[test]
fn what_comes_takes_the_place_of_what_goes() {
    check(
        "A.java",
        "package a;

⟨import org.tool.Project→import org.tool.File⟩;

class A {
    ⟦Project project→File file⟧;
}
",
        "import org.tool.File;\n",
    );
}

#[test]
fn no_braces_are_left_empty() {
    check(
        "a.jsx",
        "import React⟨, { Component }→⟩ from 'react'

export const A = () => React.createElement(⟦Component→null⟧)
",
        "",
    );
}

#[test]
fn the_first_include_is_behind_the_guard() {
    check(
        "a.hpp",
        "// Words.

#pragma once⟨→

#include <vector>⟩

struct Words {
    ⟦→std::vector<int> all;⟧
};
",
        "#include <vector>\n",
    );
}

#[test]
fn nobody_imports_from_oneself_or_more_than_is_used() {
    let cases = [
        (
            "file:///src/black/nodes.py",
            "def f():\n    ⟦pass→is_comment()⟧\n",
            "from black.nodes import is_comment\n",
        ),
        ("file:///src/a.py", "def f():\n    return ⟦0→tool.run()⟧\n", "import tool.path\n"),
    ];
    for (uri, text, other) in cases {
        check_silent(PredictorName::Import, &[(uri, text), ("file:///src/other.py", other)], 0.1);
    }
}
