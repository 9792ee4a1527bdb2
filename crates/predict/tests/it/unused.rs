//! Imports that nothing uses any more go once the user is done, and nothing goes with them.

use nudge_predict::{Eagerness, PredictorName};

use crate::fixture::{Fixture, Shown};

const PY: &str = "file:///a.py";
const USED: &str = "⟨import os\n\n→⟩\n\ndef main():\n    print(os.getcwd())\n";

fn fixture(text: &str) -> Fixture {
    Fixture::new(PredictorName::Import, &[(PY, text)])
}

fn is_shown(fixture: Fixture) -> bool {
    !matches!(fixture.shown(Eagerness::Medium), Shown::Nothing)
}

fn is_expected(fixture: Fixture) -> bool {
    matches!(fixture.shown(Eagerness::Medium), Shown::Expected)
}

#[test]
fn not_while_the_line_that_used_it_is_typed_anew() {
    let typing = |new| fixture(USED).typing("print(os.getcwd())", new);
    assert!(!is_shown(typing("p")));
    assert!(!is_shown(typing("print(")));
    assert!(!is_shown(typing("pass")));
    // A tool says so.
    assert!(is_shown(typing("pass").diagnosed("os", "`os` imported but unused")));
    // The user has gone there.
    assert!(is_shown(typing("pass").gone_behind(PY, "import")));
    // Or elsewhere.
    assert!(is_shown(typing("pass").gone_behind(PY, "def ")));
}

#[test]
fn not_while_the_lines_that_used_it_may_be_put_elsewhere() {
    let cut = "⟨import os\n\n→⟩\n\ndef a():\n    x = 1\n⟦    print(os.getcwd())\n→⟧    return x\n\n\ndef b():\n    pass\n";
    assert!(!is_shown(fixture(cut)));
    assert!(!is_shown(fixture(cut).gone_behind(PY, "def b():")));
    assert!(is_expected(fixture(cut).gone_behind(PY, "import")));
    let and_more = cut.replace("    pass", "    ⟦pass→return 2⟧");
    assert!(is_expected(fixture(&and_more)));
    let pasted = cut.replace("    pass", "⟦→    print(os.getcwd())\n⟧    pass");
    assert!(!is_shown(fixture(&pasted)));
}

#[test]
fn the_reason_names_all_that_goes() {
    let text = "import React, { useState, useEffect } from \"react\";
import lodash from \"lodash\";

export function A() {
  const [n, setN] = useState(0);
⟦  useEffect(() => {
    setN(lodash.random(5));
  }, []);
→⟧  return n;
}
";
    let found = Fixture::new(PredictorName::Import, &[("file:///a.ts", text)]).suggestions();
    assert_eq!(found[0].reason, "removes the import of `useEffect`, `lodash`, which are no longer used");
}

#[test]
fn what_is_still_used_stays() {
    let text = "import React, { useState⟨, useEffect→⟩ } from \"react\";
import lodash from \"lodash\";

export function A() {
  const [n, setN] = useState(lodash.random(5));
  ⟦useEffect(() => setN(1), []);→setN(1);⟧
  return <React.Fragment>{n}</React.Fragment>;
}
";
    Fixture::new(PredictorName::Import, &[("file:///a.tsx", text)]).check(0.3);
}

#[test]
fn a_group_of_go_goes_with_its_last_import() {
    let check = |text: &str| Fixture::new(PredictorName::Import, &[("file:///a.go", text)]).check(0.3);
    check("package a\n\n⟨import (\n\t\"fmt\"\n)\n\n→⟩func f() {\n⟦\tfmt.Println(1)\n→⟧\tg()\n}\n");
    check(
        "package a\n\n⟨import (\n\t\"fmt\"\n\t\"os\"\n)\n\n→⟩func f() {\n⟦\tfmt.Println(os.Args)\n→⟧\tg()\n}\n",
    );
    check(
        "package a\n\nimport (\n⟨\t\"fmt\"\n→⟩\t_ \"embed\"\n)\n\nfunc f() {\n⟦\tfmt.Println(1)\n→⟧\tg()\n}\n",
    );
}
