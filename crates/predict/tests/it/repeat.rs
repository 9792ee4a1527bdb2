//! What was done is done again elsewhere.

use nudge_predict::{PredictorName::Repeat, SuggestionKind};
use nudge_text::Edit;

use crate::fixture::{Fixture, check, check_silent};

#[test]
fn a_replaced_name_is_replaced_on_other_lines() {
    check(
        Repeat,
        &[(
            "a.rs",
            "fn f() {\n    let a = ⟦foo_count→total⟧(1);\n    let b = 2;\n    let c = ⟨foo_count→total⟩(3);\n}\n",
        )],
    );
}

#[test]
fn a_replaced_expression_keeps_the_names_of_its_place() {
    check(
        Repeat,
        &[(
            "a.js",
            "let a = ⟦legacy.fetch(url, cb)→modern.get(url).then(cb)⟧;\nlet x = 1;\nlet b = ⟨legacy.fetch(path, done)→modern.get(path).then(done)⟩;\n",
        )],
    );
}

#[test]
fn an_argument_is_added_whatever_the_others_are() {
    check(
        Repeat,
        &[(
            "a.go",
            "func f() {\n\tsend(a, b⟦→, ctx⟧)\n\tlog()\n\tsend(c, d⟦→, ctx⟧)\n\tlog()\n\tsend(first(), x.y⟨→, ctx⟩)\n}\n",
        )],
    );
}

#[test]
fn an_argument_is_taken_away() {
    check(Repeat, &[("a.py", "open_it(name⟦, True→⟧)\nother()\nopen_it(path⟨, True→⟩)\n")]);
}

#[test]
fn lines_come_where_the_neighbours_are_the_same() {
    check(
        Repeat,
        &[(
            "a.py",
            "class A:\n    def setup(self):\n        self.base()\n⟦→        self.log()\n⟧        self.run()\n\nclass B:\n    def setup(self):\n        self.base()\n⟨→        self.log()\n⟩        self.run()\n",
        )],
    );
}

#[test]
fn deleted_lines_are_deleted_elsewhere() {
    check(
        Repeat,
        &[(
            "a.c",
            "int f() {\n    debug_print(\"here\");\n⟦    trace_enter(__func__);\n    trace_args();\n→⟧    return 1;\n}\n\nint g() {\n⟨    trace_enter(__func__);\n    trace_args();\n→⟩    return 2;\n}\n",
        )],
    );
}

#[test]
fn a_block_is_replaced_at_its_own_indentation() {
    check(
        Repeat,
        &[(
            "a.ts",
            "function f() {\n⟦  if (done) {\n    stop();\n  }\n→  finish(done);\n⟧  a();\n  {\n⟨    if (done) {\n      stop();\n    }\n→    finish(done);\n⟩  }\n}\n",
        )],
    );
}

#[test]
fn other_spellings_of_a_name_follow() {
    let text = "const ⟦user_name→account_id⟧ = 1;\nfoo();\nconst x = ⟨userName→accountId⟩;\n";
    // One example alone makes it possible, not likely.
    Fixture::new(Repeat, &[("a.ts", text)]).check(0.15);
}

#[test]
fn other_documents_follow() {
    check(
        Repeat,
        &[
            ("a.toml", "version = \"⟦1.2.3→1.2.4⟧\"\n"),
            ("b.toml", "[x]\nneeds = { version = \"⟨1.2.3→1.2.4⟩\" }\n"),
        ],
    );
}

#[test]
fn multibyte_text_is_no_trouble() {
    check(
        Repeat,
        &[("a.py", "größe = ⟦länge→höhe⟧(\"é😀\")\nx = 1\nbreite = ⟨länge→höhe⟩(\"日本\")  # 😀\n")],
    );
}

#[test]
fn a_change_with_nothing_like_it_leads_to_nothing() {
    check_silent(Repeat, &[("a.rs", "fn f() {\n    let a = ⟦one→two⟧;\n    let b = 2;\n}\n")], 0.3);
}

#[test]
fn what_was_passed_over_is_left_alone() {
    check_silent(
        Repeat,
        &[("a.py", "a = ⟦total→count⟧ + 1\nb = total\nc = total\nd = total\ne = ⟦total→count⟧ + 2\n")],
        0.6,
    );
}

#[test]
fn a_word_comes_between_whatever_the_name_behind_it() {
    check(Repeat, &[("a.fish", "set ⟦→-l ⟧first 1\nset ⟦→-l ⟧second 2\necho $first\nset ⟨→-l ⟩third 3\n")]);
}

#[test]
fn something_comes_between_brackets_whatever_their_function() {
    check(
        Repeat,
        &[(
            "a.c",
            "jv jv_true(⟦→void⟧) {\n  return 1;\n}\n\njv jv_false(⟦→void⟧) {\n  return 0;\n}\n\njv jv_null(⟨→void⟩) {\n  return 2;\n}\n",
        )],
    );
}

#[test]
fn only_the_place_with_the_same_neighbours_is_meant() {
    check(
        Repeat,
        &[(
            "a.go",
            "\treturn []⟦string→Item⟧{}\n\treturn []⟦string→Item⟧{}\n\nfunc all(name string) []⟨string→Item⟩ {\n",
        )],
    );
}

/// A line became several, and the user has gone to another of its kind.
#[test]
fn lines_are_made_alike_where_the_user_goes() {
    let text = "class Row {\n  String title() {\n⟦    return source.readTitle();\n→    if (title == null) {\n      title = source.readTitle();\n    }\n    return title;\n⟧  }\n\n  int size() {\n    return 3;\n  }\n\n  String authorName() {\n⟨    return source.readAuthorName();\n→    if (authorName == null) {\n      authorName = source.readAuthorName();\n    }\n    return authorName;\n⟩  }\n}\n";
    let fixture = Fixture::new(Repeat, &[("Row.java", text)]);
    fixture.gone_behind("Row.java", "String authorName() {\n    ").check(0.3);
}

/// Every line of the block differs but for its frame.
#[test]
fn a_block_goes_though_its_longest_line_differs() {
    let text = |name: &str| {
        format!(
            "  <files>\n    <file src=\"bin/{name}.dll\" target=\"lib\" />\n    <file src=\"bin/{name}.xml\" target=\"lib\" />\n  </files>\n"
        )
    };
    let (web, log, mail) = (text("Acme.Web"), text("Acme.Log"), text("Acme.Mail"));
    let files = [
        ("web.nuspec", format!("<package>\n⟦{web}→⟧</package>\n")),
        ("log.nuspec", format!("<package>\n⟦{log}→⟧</package>\n")),
        ("mail.nuspec", format!("<package>\n⟨{mail}→⟩</package>\n")),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(uri, text)| (*uri, text.as_str())).collect();
    check(Repeat, &files);
}

/// The line below could be changed likewise, but is not like the one that was changed.
#[test]
fn the_same_line_is_changed_without_the_one_below() {
    let text = "fn f() {\n    let lhs = self.text(lhs)⟦→.all()⟧?;\n    let rhs = self.text(rhs)?;\n    one();\n    let lhs = self.text(lhs)?;\n    let rhs = self.text(rhs)?;\n}\n";
    let fixture = Fixture::new(Repeat, &[("a.rs", text)]).gone_behind("a.rs", "one();\n    ");
    let found = fixture.suggestions();
    let first = found.first().map(|first| &first.kind);
    let Some(SuggestionKind::Edit { edits, .. }) = first else { panic!("{first:?}") };
    let at = fixture.place("one();\n    let lhs = self.text(lhs)").end;
    assert_eq!(edits.as_slice(), [Edit::new(at..at, ".all()")]);
}

/// New lines go where the user goes, and as far in as the lines there.
#[test]
fn new_lines_are_indented_as_what_is_around() {
    let function =
        |name: &str, end: &str| format!("def {name}(client):\n    answer = client.get('{name}')\n{end}\n");
    let closed = "⟦→    answer.close()\n⟧";
    let begun = "    check(answer)\n";
    let nested = "def d(client):\n    with client:\n        answer = client.post('d')\n        read(answer)\n\n⟨→        answer.close()\n⟩    pass\n";
    let text = [
        function("a", closed),
        function("b", closed),
        function("c", &format!("{begun}{closed}")),
        nested.to_owned(),
    ]
    .concat();
    let fixture = Fixture::new(Repeat, &[("a.py", &text)]).gone_behind("a.py", "read(answer)\n");
    fixture.check(0.3);
}

/// The cursor is behind what was just put in: nobody has gone anywhere.
#[test]
fn new_lines_are_not_put_in_twice() {
    let close = "⟦→    answer.close()\n⟧";
    let text = ["a", "b", "c"]
        .map(|name| format!("def {name}(client):\n    answer = client.{name}('{name}')\n{close}\n\n"))
        .concat();
    check_silent(Repeat, &[("a.py", &text)], 0.3);
}

/// The last line has no break: new lines below it bring one.
#[test]
fn new_lines_go_below_the_last_one() {
    let text = "[a]\nkind = one⟦→\nfresh = yes⟧\n\n[b]\nkind = two⟦→\nfresh = yes⟧\n\n[c]\nkind = three⟦→\nfresh = yes⟧\n\n[d]\nsort = none⟨→\nfresh = yes⟩";
    Fixture::new(Repeat, &[("a.conf", text)]).gone_behind("a.conf", "sort = none").check(0.3);
}

/// Whole expressions stand where the example has names.
#[test]
fn what_is_alike_becomes_alike() {
    let text = "void a() {\n⟦  writer w(buffer.data(), as<int>(buffer.size()), exp, specs, point);→  writer w(buffer, exp, specs, point);⟧\n}\n\nvoid b() {\n⟨  writer w(out.data(), as<int>(out.size()), dec.exponent, specs, mark('.'));→  writer w(out, dec.exponent, specs, mark('.'));⟩\n}\n";
    Fixture::new(Repeat, &[("a.cpp", text)]).gone_behind("a.cpp", "void b() {\n  ").check(0.3);
}

#[test]
fn what_is_alike_in_another_spelling_becomes_alike() {
    let text = "fn a() {\n    process::exit(⟦EXITCODE_ERROR→ExitCode::Error.into()⟧);\n}\n\nfn b() {\n    process::exit(⟨EXITCODE_SIGINT→ExitCode::Sigint.into()⟩);\n}\n";
    Fixture::new(Repeat, &[("a.rs", text)]).gone_behind("a.rs", "fn b() {\n    ").check(0.3);
}

/// A number is not taken apart, though a part of it stands where the lines differ.
#[test]
fn what_is_alike_keeps_its_numbers_whole() {
    let text = "void a() {\n⟦  scale(view, 1);→  scale_by(view, 1, 1.5);⟧\n}\n\nvoid b() {\n⟨  scale(view, 2);→  scale_by(view, 2, 1.5);⟩\n}\n";
    Fixture::new(Repeat, &[("a.c", text)]).gone_behind("a.c", "void b() {\n  ").check(0.3);
}

/// Two marks changed together: the one is not changed without the other.
#[test]
fn what_belongs_together_is_done_together() {
    let text = "/**\n * One:\n * <pre>⟦{@code→<code>⟧\n * one();\n */\nclass A {}\n\n/**\n * Two:\n * <pre>⟦{@code→<code>⟧\n * two();\n */\nclass B {}\n\n/**\n * Three:\n * <pre>⟨{@code→<code>⟩\n * three();\n */\nclass C {}\n";
    check(Repeat, &[("a.java", text)]);
}

/// The name got something in front, whatever stands around it.
#[test]
fn a_name_gets_its_prefix_wherever_it_stands() {
    let text = "void f(⟦→std::⟧string name);\nvoid g(int a, ⟦→std::⟧string b);\nvector<⟦→std::⟧string> all;\nstd::string done;\nconst ⟨→std::⟩string *last;\n";
    Fixture::new(Repeat, &[("a.cpp", text)]).gone_behind("a.cpp", "std::string done;\n").check(0.3);
}

#[test]
fn a_name_gets_its_suffix_once() {
    let text = "Result⟦→?⟧ a;\nList<Result⟦→?⟧> b;\nf(Result⟦→?⟧ c);\nResult? d;\nreturn (Result⟨→?⟩) e;\n";
    Fixture::new(Repeat, &[("a.cs", text)]).gone_behind("a.cs", "Result? d;\n").check(0.3);
}

/// What one file got at its top the next one gets there, too, though they have nothing else in common.
#[test]
fn what_comes_at_the_top_comes_at_the_top_of_the_next_file() {
    let head = "// Copyright the authors\n// All rights reserved\n\n";
    let first = format!("⟦→{head}⟧use std::fmt;\n");
    let second = format!("⟦→{head}⟧mod parse;\n");
    let third = format!("⟨→{head}⟩pub fn main() {{}}\n");
    let files = [("a.rs", &*first), ("b.rs", &*second), ("c.rs", &*third)];
    Fixture::new(Repeat, &files).gone_behind("c.rs", "").check(0.3);
}

/// What is opened is closed: where the whole does not apply, a half of it is not done.
#[test]
fn no_bracket_is_changed_without_its_other_half() {
    let text = "a = make(⟦new[] { one }→[one]⟧);\nb();\nc = make(⟦new[] { two }→[two]⟧);\nd();\ne = make(new[] { f(3), f(4) });\n";
    check_silent(Repeat, &[("a.txt", text)], 0.1);
}

#[test]
fn lines_that_lie_together_are_changed_one_after_the_other() {
    check(
        Repeat,
        &[("a.txt", "alpha ⟦foo→bar⟧ one\nbeta ⟦foo→bar⟧ two\ngamma ⟨foo→bar⟩ three\n\nend of it\n")],
    );
    check(
        Repeat,
        &[("a.py", "CASES = [\n    ('a', 1⟦→, None⟧),\n    ('b', 2⟦→, None⟧),\n    ('c', 3⟨→, None⟩),\n]\n")],
    );
    // After one, only a line that is like it.
    check(
        Repeat,
        &[("a.js", "⟦var→const⟧ first = load(1)\n⟨var→const⟩ second = load(2)\nrun(first, second)\n")],
    );
    check_silent(Repeat, &[("a.txt", "The ⟦house→home⟧ of\na house like this\n")], 0.55);
}

#[test]
fn what_is_needed_elsewhere_does_not_go() {
    let silent = [
        "fn a() {\n⟦    let cnt = 128;\n→⟧    run();\n}\n\nfn b() {\n    let cnt = 128;\n    for at in 0..cnt {\n        run(at);\n    }\n}\n",
        "fn a() {\n⟦    if is_done {\n        stop();\n    }\n→⟧    run();\n}\n\nfn b() {\n    if is_done {\n        stop();\n        return;\n    }\n}\n",
    ];
    for text in silent {
        check_silent(Repeat, &[("a.rs", text)], 0.31);
    }
}

/// That one line went does not mean that another goes which is only like it.
#[test]
fn lines_that_are_only_alike_go_after_two_have_gone() {
    let file = |marks: [&str; 4]| {
        let [a, b, c, d] = marks;
        format!(
            "{a}import rx.Subscription;\n{b}import io.Reader;\n{c}import rx.Scheduler;\n{d}import io.Writer;\n"
        )
    };
    let with = |text: &str| format!("{text}⟨import rx.Observable;\n→⟩import io.File;\n\nclass A {{}}\n");
    let one = file(["⟦", "→⟧", "", ""]);
    let fixture = Fixture::new(Repeat, &[("A.java", &with(&one))]).gone_behind("A.java", "Writer;\n");
    assert!(fixture.suggestions().is_empty());
    let two = file(["⟦", "→⟧", "⟦", "→⟧"]);
    Fixture::new(Repeat, &[("A.java", &with(&two))]).gone_behind("A.java", "Writer;\n").check(0.1);
}

#[test]
fn a_condition_that_is_turned_turns_no_other() {
    let text = "function save(user, opts) {\n  if (⟦→!⟧user) {\n    return;\n  }\n  if (opts.force) {\n    write(user);\n  }\n  if (user.name !== opts.name) {\n    go();\n  }\n}\n";
    for place in ["if (opts.force) {", "write(user);", "!== opts.name) {"] {
        let found = Fixture::new(Repeat, &[("a.js", text)]).gone_behind("a.js", place).suggestions();
        assert!(found.iter().all(|found| found.confidence < 0.31), "{place}: {found:#?}");
    }
}

#[test]
fn the_next_place_comes_first() {
    let item = |name: usize| format!("#[derive(Debug)]\nstruct Item{name} {{\n    value: u{name},\n}}\n\n");
    let done = |name: usize| item(name).replace("(Debug)", "(Debug⟦→, Clone⟧)");
    let text: String = (1..9).map(|name| if name < 3 { done(name) } else { item(name) }).collect();
    let mut fixture = Fixture::new(Repeat, &[("a.rs", &text)]);
    for line in [10, 15, 20, 25, 30, 35] {
        let first = fixture.suggestions().into_iter().next().expect("there is more to do");
        let SuggestionKind::Edit { edits, .. } = &first.kind else { panic!("an edit") };
        let at = edits.as_slice()[0].range.start;
        assert_eq!(fixture.line_of(at), line, "{first:?}");
        fixture.take(&first);
    }
}

#[test]
fn what_stands_there_already_does_not_come_beside_itself() {
    let shared = "fn f() {\n    send(a, b⟦→, ctx⟧);\n    log();\n    send(c, d⟦→, ctx⟧);\n    log();\n";
    check(Repeat, &[("a.rs", &format!("{shared}    send(e, g⟨→, ctx⟩);\n}}\n"))]);
    check_silent(Repeat, &[("a.rs", &format!("{shared}    send(e, ctx);\n}}\n"))], 0.0);
    let path =
        "Look at `include/⟦→words/⟧options.h`.\nAnd more.\nThen `include/⟦→words/⟧table.h`.\nAnd more.\n";
    check(Repeat, &[("a.md", &format!("{path}Then `include/⟨→words/⟩status.h`.\n"))]);
    check_silent(Repeat, &[("a.md", &format!("{path}Then `include/words/status.h`.\n"))], 0.0);
}

/// A variable of the same name in another function is another one: it is renamed from its declaration on, or not at all.
#[test]
fn no_use_of_another_variable_is_renamed_without_its_declaration() {
    let body = "    int f(List<Integer> xs) {
        int ⟦t→sum⟧ = 0;
        for (int x : xs) {
            ⟦t→sum⟧ += x;
        }
        return ⟦t→sum⟧;
    }
";
    let other = "    int g(List<Integer> xs) {
        int t = 1;
        for (int x : xs) {
            t *= x;
        }
        return t;
    }
";
    let mut fixture = Fixture::new(Repeat, &[("A.java", &format!("class A {{\n{body}\n{other}}}\n"))]);
    let uses = [fixture.place("t *= x").start, fixture.place("return t").end];
    for found in fixture.all() {
        let SuggestionKind::Edit { edits, .. } = &found.kind else { continue };
        let is_use = |edit: &Edit| uses.iter().any(|at| edit.range.start <= *at && *at <= edit.range.end);
        assert!(!edits.iter().any(is_use), "{found:#?}");
    }
}

/// A line that declares a variable and uses it is not changed by half.
#[test]
fn no_variable_is_renamed_on_a_part_of_its_line() {
    let text = "package m

func f(xs []int) int {
	sum := 0
	for ⟦i→idx⟧, x := range xs {
		sum += x * ⟦i→idx⟧
	}
	for i := 0; i < 3; i++ {
		sum += i
	}
	return sum
}
";
    check_silent(Repeat, &[("a.go", text)], 0.3);
}

/// Where the new name is a variable as well, it may take the place of the old one.
#[test]
fn another_variable_of_the_place_may_be_used() {
    let text = "fn f(a: u32, b: u32) {
    show(⟦a→b⟧);
    let x = 1;
    show(⟨a→b⟩);
}
";
    check(Repeat, &[("a.rs", text)]);
}
