//! Names of standard libraries are imported with their first use, though no other file shows how.

use nudge_predict::{Eagerness, PredictorName};

use crate::fixture::{Fixture, Shown};

const PY: &str = "file:///app/a.py";
const GO: &str = "file:///app/a.go";
const JAVA: &str = "file:///app/A.java";
const CPP: &str = "file:///app/a.cpp";
const CS: &str = "file:///app/A.cs";

fn check(files: &[(&str, &str)]) {
    match Fixture::new(PredictorName::Import, files).shown(Eagerness::Medium) {
        Shown::Expected => {}
        Shown::Other(text) => panic!("{text}"),
        Shown::Nothing => panic!("nothing: {}", files[0].1),
    }
}

fn silent(files: &[(&str, &str)]) {
    if let Shown::Other(text) = Fixture::new(PredictorName::Import, files).shown(Eagerness::Medium) {
        panic!("{text}");
    }
}

#[test]
fn packages_of_go() {
    check(&[(
        GO,
        "package a\n\nimport \"fmt\"⟨→\nimport \"strings\"⟩\n\nfunc f() {\n\tfmt.Println(1)\n\t⟦→s := strings.ToUpper(\"a\")⟧\n}\n",
    )]);
    check(&[(
        GO,
        "package a\n\nimport (\n⟨→\t\"encoding/json\"\n⟩\t\"fmt\"\n)\n\nfunc f() {\n\tfmt.Println(1)\n\t⟦→json.Marshal(1)⟧\n}\n",
    )]);
    check(&[(
        GO,
        "package a\n\nimport (\n\t_ \"embed\"⟨→\n\t\"os\"⟩\n)\n\nfunc f() {\n\t⟦→os.Exit(1)⟧\n}\n",
    )]);
    check(&[(GO, "package a⟨→\n\nimport \"time\"⟩\n\nfunc f(⟦→wait time.Duration, n int⟧) {\n}\n")]);
    // Half typed.
    silent(&[(GO, "package a\n\nfunc f() {\n\t⟦→strings⟧\n}\n")]);
    silent(&[(GO, "package a\n\nfunc f() {\n\t⟦→strings.ToUp⟧\n}\n")]);
    // A variable, a parameter, a variable of the package in another file.
    silent(&[(GO, "package a\n\nfunc f() {\n\t⟦→log := g()\n\tlog.Print(1)⟧\n}\n")]);
    silent(&[(GO, "package a\n\nfunc f(log Logger) {\n\t⟦→log.Print(1)⟧\n}\n")]);
    silent(&[
        (GO, "package a\n\nfunc f() {\n\t⟦→log.Print(1)⟧\n}\n"),
        ("file:///app/b.go", "package a\n\nvar log = makeLog()\n"),
    ]);
    // A field, and a package that the file has by this name.
    silent(&[(GO, "package a\n\nfunc f(a A) {\n\t⟦→a.log.Print(1)⟧\n}\n")]);
    silent(&[(
        GO,
        "package a\n\nimport json \"github.com/x/fast\"\n\nfunc f() {\n\t⟦→json.Marshal(1)⟧\n}\n",
    )]);
    // Not what a package shows to others.
    silent(&[(GO, "package a\n\nfunc f() {\n\t⟦→log.print(1)⟧\n}\n")]);
}

#[test]
fn a_file_beside_that_is_not_open_may_declare_it() {
    let text = "package a\n\nfunc f() {\n\t⟦→log.Print(1)⟧\n}\n";
    let fixture = Fixture::new(PredictorName::Import, &[(GO, text)])
        .indexed("file:///app/b.go", "package a\n\nvar log = makeLog()\n");
    assert!(matches!(fixture.shown(Eagerness::Medium), Shown::Nothing));
}

#[test]
fn classes_of_java() {
    check(&[(
        JAVA,
        "package a;\n\n⟨→import java.util.ArrayList;\n⟩import java.util.List;\n\nclass A {\n    List<String> f() {\n        ⟦return null;→return new ArrayList<>();⟧\n    }\n}\n",
    )]);
    check(&[(
        JAVA,
        "package a;⟨→\n\nimport java.util.Optional;⟩\n\nclass A {\n    ⟦→Optional<String> name;⟧\n}\n",
    )]);
    check(&[(JAVA, "⟨→import java.util.List;\n\n⟩class A {\n    ⟦→List<String> names;⟧\n}\n")]);
    silent(&[(JAVA, "package a;\n\nclass A {\n    ⟦→List⟧\n}\n")]);
    silent(&[(JAVA, "package a;\n\nimport java.util.*;\n\nclass A {\n    ⟦→List<String> names;⟧\n}\n")]);
    silent(&[(JAVA, "package a;\n\nclass A {\n    ⟦→Path path;⟧\n    static class Path {}\n}\n")]);
    silent(&[
        (JAVA, "package a;\n\nclass A {\n    ⟦→Path path;⟧\n}\n"),
        ("file:///app/Path.java", "package a;\n\nclass Path {}\n"),
    ]);
}

#[test]
fn headers_of_cpp() {
    check(&[(
        CPP,
        "#include <iostream>⟨→\n#include <vector>⟩\n\nint main() {\n    std::cout << 1;\n    ⟦→std::vector<int> v;⟧\n}\n",
    )]);
    check(&[(
        CPP,
        "#include <map>\n⟨→#include <memory>\n⟩#include <vector>\n\n#ifdef A\n#include <mach>\n#endif\n\nint main() {\n    ⟦→auto p = std::make_unique<int>(1);⟧\n}\n",
    )]);
    silent(&[(CPP, "#include <map>\n\nint main() {\n    ⟦→std::vector⟧\n}\n")]);
    silent(&[(CPP, "#include <vector>\n\nint main() {\n    ⟦→std::vector<int> v;⟧\n}\n")]);
    // What is not of `std`, and what a header of the project may bring.
    silent(&[(CPP, "#include <map>\n\nint main() {\n    ⟦→my::vector<int> v;⟧\n}\n")]);
    silent(&[(CPP, "#include \"a.h\"\n\nint main() {\n    ⟦→std::vector<int> v;⟧\n}\n")]);
    silent(&[(CPP, "#include <map>\n\nint main() {\n    ⟦→// std::vector<int> is slow⟧\n}\n")]);
}

#[test]
fn modules_of_python() {
    check(&[(
        PY,
        "⟨→import json\n⟩import sys\n\n\ndef f(text):\n    ⟦return text→return json.loads(text)⟧\n\n\nsys.exit(f('1'))\n",
    )]);
    silent(&[(PY, "import sys\n\n\ndef f(text):\n    ⟦return text→return json⟧\n")]);
    silent(&[(PY, "import sys\n\n\ndef f(text):\n    ⟦return text→return json.lo⟧\n")]);
    silent(&[(PY, "from all import *\n\n\ndef f(text):\n    ⟦return text→return json.loads(text)⟧\n")]);
    silent(&[(PY, "def f(json):\n    ⟦return 1→return json.loads(1)⟧\n")]);
    silent(&[(PY, "def f(x):\n    ⟦return 1→return x.json.loads(1)⟧\n")]);
    silent(&[(PY, "def f(x):\n    ⟦return 1→return 1  # see json.loads(x)⟧\n")]);
    silent(&[(PY, "try:\n    import json\nexcept ImportError:\n    pass\n\n⟦→json.loads(1)\n⟧")]);
}

#[test]
fn namespaces_of_csharp() {
    let used = "using System;⟨→\nusing System.Collections.Generic;⟩\n\nclass A\n{\n    void M()\n    {\n        Console.WriteLine(1);\n        ⟦→var l = new List<int>();⟧\n    }\n}\n";
    check(&[
        (CS, used),
        (
            "file:///app/B.cs",
            "using System;\nusing System.Collections.Generic;\n\nclass B { List<int> x; }\n",
        ),
    ]);
    // The project may have it open everywhere.
    silent(&[(CS, used)]);
    silent(&[
        (
            CS,
            "using System.Collections.Generic;\n\nclass A\n{\n    void M()\n    {\n        ⟦→var l = new List<int>();⟧\n    }\n}\n",
        ),
        ("file:///app/B.cs", "using System.Collections.Generic;\n\nclass B { List<int> x; }\n"),
    ]);
}
