//! A new name is carried to the uses of the old one, and to nothing else.

mod whole;

use nudge_predict::{OfferedKinds, PredictorName, SuggestionKind};

use crate::fixture::{self, Fixture, check_silent};

fn check(files: &[(&str, &str)]) {
    fixture::check(PredictorName::Rename, files);
}

/// With what is less likely too.
fn check_from(bar: f32, files: &[(&str, &str)]) {
    Fixture::new(PredictorName::Rename, files).check(bar);
}

#[test]
fn a_local_follows_to_the_end_of_its_block() {
    check(&[(
        "file:///a.rs",
        "fn load(path: &Path) -> Result<Config> {
    let ⟦text→content⟧ = std::fs::read_to_string(path)?;
    let config = parse(&⟨text→content⟩)?;
    if ⟨text→content⟩.is_empty() {
        warn!(\"{} is empty: {⟨text→content⟩}\", path.display());
    }
    Ok(config)
}

fn save(text: &str) {
    write(text);
}
",
    )]);
}

#[test]
fn a_parameter_follows_inside_its_function_but_not_where_it_is_shadowed() {
    check(&[(
        "file:///a.rs",
        "fn area(⟦w→width⟧: u32, h: u32) -> u32 {
    let scale = |w: u32| w * 2;
    let total = scale(⟨w→width⟩) * h;
    // w is in pixels
    log(\"w\", self.w);
    total + ⟨w→width⟩
}

fn other(w: u32) -> u32 {
    w
}
",
    )]);
}

#[test]
fn a_later_let_of_the_same_name_is_another_variable() {
    check(&[(
        "file:///a.rs",
        "fn f(input: &str) {
    let ⟦value→trimmed⟧ = input.trim();
    check(⟨value→trimmed⟩);
    let value = ⟨value→trimmed⟩.len();
    check_len(value);
}
",
    )]);
}

#[test]
fn a_shorthand_keeps_its_field() {
    check_from(
        0.1,
        &[(
            "file:///a.rs",
            "fn make(⟦id→user_id⟧: u64) -> User {
    audit(⟨id→user_id⟩);
    User { ⟨id→id: user_id⟩, name: String::new() }
}
",
        )],
    );
}

#[test]
fn a_field_follows_in_its_type_and_its_literals() {
    check_from(
        0.1,
        &[(
            "file:///a.rs",
            "struct Pool {
    ⟦size→capacity⟧: usize,
    idle: Vec<Connection>,
}

impl Pool {
    fn new(size: usize) -> Self {
        Pool { ⟨size→capacity: size⟩, idle: Vec::new() }
    }

    fn is_full(&self) -> bool {
        self.idle.len() >= self.⟨size→capacity⟩
    }
}

struct Page {
    number: u32,
}

impl Page {
    fn bytes(&self) -> usize {
        self.size()
    }
}
",
        )],
    );
}

#[test]
fn a_field_of_another_type_is_left_alone() {
    check(&[(
        "file:///a.rs",
        "struct A {
    ⟦count→total⟧: u32,
}
struct B {
    count: u32,
}
impl A {
    fn get(&self) -> u32 {
        self.⟨count→total⟩
    }
}
impl B {
    fn get(&self) -> u32 {
        self.count
    }
}
",
    )]);
}

#[test]
fn a_function_follows_in_other_documents() {
    check(&[
        (
            "file:///src/store.rs",
            "pub fn ⟦open→open_store⟧(path: &Path) -> Store {
    Store::open(path)
}
#[cfg(test)]
mod tests {
    #[test]
    fn opens() {
        super::⟨open→open_store⟩(\"x\".as_ref());
    }
}
",
        ),
        (
            "file:///src/main.rs",
            "use store::⟨open→open_store⟩;

fn main() {
    let store = ⟨open→open_store⟩(Path::new(\"db\"));
    let open = true;
    show(open, \"open\");
}
",
        ),
    ]);
}

#[test]
fn a_trait_method_follows_in_its_implementations() {
    check(&[(
        "file:///a.rs",
        "trait Shape {
    fn ⟦size→area⟧(&self) -> f64;
}
impl Shape for Circle {
    fn ⟨size→area⟩(&self) -> f64 {
        self.r * self.r * PI
    }
}
impl Shape for Square {
    fn ⟨size→area⟩(&self) -> f64 {
        self.a * self.a
    }
}
fn total(shapes: &[Box<dyn Shape>]) -> f64 {
    shapes.iter().map(|shape| shape.⟨size→area⟩()).sum()
}
",
    )]);
}

#[test]
fn a_variant_follows_where_its_enum_is_named() {
    check(&[(
        "file:///a.rs",
        "enum State {
    ⟦Ready→Idle⟧,
    Busy,
}
fn step(state: State, poll: Poll) -> State {
    match state {
        State::⟨Ready→Idle⟩ => State::Busy,
        State::Busy => State::⟨Ready→Idle⟩,
    };
    let _ = matches!(poll, Poll::Ready(_));
}
",
    )]);
}

#[test]
fn an_import_follows_in_its_file() {
    check(&[(
        "file:///a.rs",
        "use std::collections::⟦HashMap→BTreeMap⟧;

struct Cache {
    entries: ⟨HashMap→BTreeMap⟩<String, Entry>,
}

impl Cache {
    fn new() -> Self {
        Self { entries: ⟨HashMap→BTreeMap⟩::new() }
    }
}
",
    )]);
}

#[test]
fn a_constant_in_typescript_follows_but_not_as_a_property() {
    check(&[(
        "file:///a.ts",
        "const ⟦timeout→timeoutMs⟧ = 500;

export function wait(options: Options) {
    const limit = options.timeout ?? ⟨timeout→timeoutMs⟩;
    return sleep({ timeout: limit, fallback: ⟨timeout→timeoutMs⟩, note: `after ${⟨timeout→timeoutMs⟩}` });
}

export function run(timeout: number) {
    return timeout * 2;
}
",
    )]);
}

#[test]
fn a_property_in_typescript_follows_through_this() {
    check(&[(
        "file:///a.ts",
        "interface Options {
    ⟦verbose→debug⟧: boolean;
}

export function start(options: Options) {
    if (options.⟨verbose→debug⟩) {
        log('verbose');
    }
    return create({ ⟨verbose→debug⟩: options.⟨verbose→debug⟩ });
}
",
    )]);
}

#[test]
fn a_destructured_property_keeps_its_variable() {
    check_from(
        0.1,
        &[(
            "file:///a.tsx",
            "type Props = {
    ⟦label→title⟧: string;
};

export function Button({ ⟨label→title: label⟩ }: Props) {
    return <button>{label}</button>;
}
",
        )],
    );
}

#[test]
fn python_functions_parameters_and_keywords() {
    check(&[(
        "file:///a.py",
        "def fetch(url, ⟦wait→timeout⟧=None):
    if ⟨wait→timeout⟩ is None:
        ⟨wait→timeout⟩ = 30
    return get(url, wait=False, t=⟨wait→timeout⟩)


def main():
    fetch(\"x\", ⟨wait→timeout⟩=3)
    wait = 4
    other(wait=wait)
",
    )]);
}

#[test]
fn python_attributes_follow_through_self() {
    check(&[(
        "file:///a.py",
        "class Client:
    def __init__(self, host):
        self.⟦host→base_url⟧ = host
        self.port = 80

    def get(self, path):
        host = self.⟨host→base_url⟩
        return send(host, f\"{self.⟨host→base_url⟩}/{path}\")
",
    )]);
}

#[test]
fn go_results_that_are_assigned_again_are_the_same_variable() {
    check(&[(
        "file:///a.go",
        "package a

func load(name string) (*Config, error) {
	⟦f→file⟧, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer ⟨f→file⟩.Close()
	for _, f := range list {
		use(f)
	}
	return decode(⟨f→file⟩)
}
",
    )]);
}

#[test]
fn go_methods_follow() {
    check(&[
        (
            "file:///a.go",
            "package a

func (s *Server) ⟦Run→Start⟧() error {
	return s.listen()
}

func main() {
	s := New()
	s.⟨Run→Start⟩()
}
",
        ),
        (
            "file:///a_test.go",
            "package a

func TestServer(t *testing.T) {
	s := New()
	if err := s.⟨Run→Start⟩(); err != nil {
		t.Fatal(err)
	}
}
",
        ),
    ]);
}

#[test]
fn java_fields_are_used_with_and_without_this() {
    check(&[(
        "file:///A.java",
        "class Account {
    private int ⟦amount→balance⟧;

    void deposit(int amount) {
        this.⟨amount→balance⟩ += amount;
    }

    int get() {
        return ⟨amount→balance⟩;
    }
}
",
    )]);
}

#[test]
fn cpp_members_follow_from_the_header_to_the_source() {
    check(&[
        (
            "file:///queue.h",
            "class Queue {
public:
    void ⟦add→push⟧(int value);
    bool empty() const;
private:
    std::vector<int> items_;
};
",
        ),
        (
            "file:///queue.cpp",
            "#include \"queue.h\"

void Queue::⟨add→push⟩(int value) {
    items_.push_back(value);
}

int main() {
    Queue queue;
    queue.⟨add→push⟩(1);
}
",
        ),
    ]);
}

#[test]
fn csharp_locals_and_properties() {
    check(&[(
        "file:///a.cs",
        "class Order {
    public int ⟦Qty→Quantity⟧ { get; set; }

    public int Total(int price) {
        return ⟨Qty→Quantity⟩ * price;
    }

    public static Order Make() {
        return new Order { ⟨Qty→Quantity⟩ = 1 };
    }
}
",
    )]);
}

#[test]
fn a_renamed_type_takes_its_constructor_along() {
    check(&[(
        "file:///A.java",
        "class ⟦Cfg→Config⟧ {
    ⟨Cfg→Config⟩(String path) {
        load(path);
    }

    static ⟨Cfg→Config⟩ of(String path) {
        return new ⟨Cfg→Config⟩(path);
    }
}
",
    )]);
}

#[test]
fn a_use_that_was_renamed_first_takes_its_declaration_along() {
    check(&[(
        "file:///a.rs",
        "fn f() {
    let ⟨cnt→count⟩ = 0;
    show(⟦cnt→count⟧);
}
",
    )]);
}

#[test]
fn using_another_variable_is_no_rename() {
    let text = "fn f(a: u32, b: u32) {
    show(⟦a→b⟧);
    show(a);
    other(a);
}
";
    check_silent(PredictorName::Rename, &[("file:///a.rs", text)], 0.2);
}

#[test]
fn swapping_two_names_is_no_rename() {
    let text = "fn f(⟦first→second⟧: u32, ⟦second→first⟧: u32) {
    show(first, second);
}
";
    check_silent(PredictorName::Rename, &[("file:///a.rs", text)], 0.2);
}

#[test]
fn everything_at_once_if_the_client_can_and_every_hit_is_meant() {
    let text = "fn ⟦go→run⟧() {}
fn a() {
    go();

    go();

    go();

    go();
    good();
}
";
    let mut fixture = Fixture::new(PredictorName::Rename, &[("file:///a.rs", text)]);
    fixture.offers = OfferedKinds { search_and_replace: true, ..OfferedKinds::default() };
    // A client shows a few; the rest are taken away to see the last.
    let found = fixture.all();
    let expected = SuggestionKind::Replace {
        uri: "file:///a.rs".into(),
        search: r"\bgo\b".into(),
        replace: "run".into(),
        regex: true,
    };
    assert!(found.iter().any(|found| found.kind == expected), "{found:#?}");
}

#[test]
fn names_that_changed_together_follow_together() {
    let text = "export type ⟦QueryArgs→QueryInput⟧ = string;
export type ⟦QueryResult→QueryOutput⟧ = string;

export type Both = {
    a: QueryArgs;
    b: QueryResult;
};
";
    let found = Fixture::new(PredictorName::Rename, &[("file:///a.ts", text)]).suggestions();
    let SuggestionKind::Edit { edits, .. } = &found[0].kind else { panic!("{found:#?}") };
    assert_eq!(edits.len(), 2, "{found:#?}");
}

#[test]
fn a_field_of_another_variant_is_left_alone() {
    check(&[(
        "file:///a.rs",
        "enum Error {
    Missing { ⟦keyword→key⟧: String },
    Unknown { keyword: String },
}
fn show(error: &Error) {
    match error {
        Error::Missing { ⟨keyword→key⟩: name } => print(name),
        Error::Unknown { keyword } => print(keyword),
    }
}
",
    )]);
}

#[test]
fn a_label_and_its_value_become_one() {
    check_from(
        0.1,
        &[(
            "file:///a.ts",
            "function fail(⟦e→error⟧: Error) {
    throw new Handled({ ⟨error: e→error⟩, meta });
}
",
        )],
    );
}
