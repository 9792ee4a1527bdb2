//! A changed declaration is carried to its counterparts and its calls.

use nudge_predict::PredictorName;

use crate::fixture::{self, check_silent};

fn check(files: &[(&str, &str)]) {
    fixture::check(PredictorName::Signature, files);
}

/// Everything that is marked follows at the bar of medium eagerness.
fn medium(files: &[(&str, &str)]) {
    fixture::Fixture::new(PredictorName::Signature, files).check(0.55);
}

fn silent(files: &[(&str, &str)]) {
    check_silent(PredictorName::Signature, files, 0.3);
}

#[test]
fn a_trait_takes_its_implementations_along() {
    check(&[(
        "file:///a.rs",
        "trait Store {
    fn get(&self, key: &str⟦→, at: Instant⟧) -> Option<Value>;
}

impl Store for Memory {
    fn get(&self, key: &str⟨→, at: Instant⟩) -> Option<Value> {
        self.map.get(key).cloned()
    }
}

impl Store for Disk {
    fn get(&self, _key: &str⟨→, at: Instant⟩) -> Option<Value> {
        None
    }
}

impl Other {
    fn get(&self, index: usize) -> Option<Value> {
        None
    }
}
",
    )]);
}

#[test]
fn a_result_type_is_carried_too() {
    check(&[
        (
            "file:///a.rs",
            "trait Store {
    fn save(&mut self, key: &str) -> ⟦bool→Result<(), Error>⟧;
}
",
        ),
        (
            "file:///b.rs",
            "impl Store for Disk {
    fn save(&mut self, key: &str) -> ⟨bool→Result<(), Error>⟩ {
        self.write(key)
    }
}
",
        ),
    ]);
}

#[test]
fn a_header_follows_its_source() {
    check(&[
        (
            "file:///pool.cpp",
            "#include \"pool.h\"

Item* Pool::acquire(⟦int→size_t⟧ count, const std::string& name) {
    return nullptr;
}
",
        ),
        (
            "file:///pool.h",
            "class Pool {
public:
    Item* acquire(⟨int→size_t⟩ count, const std::string& name = \"\");
    void release(Item* item);
};
",
        ),
    ]);
}

#[test]
fn a_prototype_in_c_follows() {
    check(&[
        (
            "file:///list.c",
            "int list_add(struct list *list, int value⟦→, int flags⟧)
{
    return 0;
}
",
        ),
        (
            "file:///list.h",
            "int list_add(struct list *list, int value⟨→, int flags⟩);\nint list_len(struct list *list);\n",
        ),
    ]);
}

#[test]
fn a_class_follows_its_interface() {
    check(&[(
        "file:///a.ts",
        "export interface Cache {
    get(key: string⟦→, scope: Scope⟧): Promise<string | undefined>;
}

export class MemoryCache implements Cache {
    async get(key: string⟨→, scope: Scope⟩): Promise<string | undefined> {
        return this.map.get(key);
    }
}
",
    )]);
}

#[test]
fn a_java_override_follows() {
    check(&[
        (
            "file:///Shape.java",
            "interface Shape {
    double area(⟦int→long⟧ scale);
}
",
        ),
        (
            "file:///Circle.java",
            "class Circle implements Shape {
    @Override
    public double area(⟨int→long⟩ scale) {
        return 1;
    }
}
",
        ),
    ]);
}

#[test]
fn a_go_implementation_follows_its_interface() {
    check(&[(
        "file:///a.go",
        "package a

type Store interface {
	Get(⟦→ctx context.Context, ⟧key string) (string, error)
}

type memory struct{}

func (m *memory) Get(⟨→ctx context.Context, ⟩key string) (string, error) {
	return \"\", nil
}
",
    )]);
}

#[test]
fn a_removed_parameter_takes_its_arguments_along() {
    check(&[
        (
            "file:///a.rs",
            "fn connect(host: &str⟦, port: u16→⟧) -> Connection {
    dial(host)
}

fn main() {
    let a = connect(\"a\"⟨, 80→⟩);

    let b = connect(&format!(\"{}\", 1)⟨, ports(a, 2)→⟩);
}
",
        ),
        (
            "file:///b.rs",
            "fn other() {
    a::connect(\"b\"⟨, 443→⟩);
    pool.connect(\"c\", 1);
}
",
        ),
    ]);
}

#[test]
fn an_added_parameter_is_passed_on_where_a_variable_has_its_name() {
    check(&[(
        "file:///a.go",
        "package a

func load(⟦→ctx context.Context, ⟧name string) error {
	return nil
}

func loadAll(ctx context.Context, names []string) error {
	for _, name := range names {
		if err := load(⟨→ctx, ⟩name); err != nil {
			return err
		}
	}
	return nil
}

func other() {
	load(\"x\")
}
",
    )]);
}

#[test]
fn an_added_parameter_takes_the_argument_of_a_call_that_has_it() {
    check(&[(
        "file:///a.ts",
        "export function render(view: View⟦→, depth: number⟧) {
    return draw(view);
}

render(first⟦→, 0⟧);

render(second⟨→, 0⟩);
",
    )]);
}

#[test]
fn an_optional_parameter_changes_no_call() {
    silent(&[(
        "file:///a.py",
        "def send(message⟦→, retries=3⟧):
    pass


def main(retries):
    send(\"x\")
",
    )]);
}

#[test]
fn reordered_parameters_reorder_arguments() {
    check(&[(
        "file:///a.py",
        "def copy(⟦target, source→source, target⟧):
    pass


copy(⟨\"out\", read()→read(), \"out\"⟩)
",
    )]);
}

#[test]
fn what_became_async_is_awaited_in_async_functions() {
    check(&[(
        "file:///a.rs",
        "⟦→async ⟧fn fetch(url: &str) -> Result<Body> {
    get(url)
}

async fn all(urls: &[String]) -> Result<()> {
    for url in urls {
        let body = fetch(url)⟨→.await⟩?;
        save(body);
    }
    Ok(())
}

fn sync() {
    fetch(\"x\");
}
",
    )]);
    check(&[(
        "file:///a.ts",
        "export ⟦→async ⟧function fetchAll(url: string) {
    return get(url);
}

async function main() {
    const body = ⟨→await ⟩fetchAll('x');
    const size = ⟨→(await ⟩fetchAll('y')⟨→)⟩.length;
}
",
    )]);
}

#[test]
fn a_changed_body_changes_nothing_elsewhere() {
    silent(&[(
        "file:///a.rs",
        "trait T {
    fn f(&self, a: u32) -> u32;
}
impl T for A {
    fn f(&self, a: u32) -> u32 {
        ⟦a→a + 1⟧
    }
}
fn g(t: &dyn T) -> u32 {
    t.f(1)
}
",
    )]);
}

#[test]
fn a_removed_field_goes_from_the_literals() {
    check(&[(
        "file:///a.rs",
        "pub struct Config {
    pub name: String,
⟦    pub verbose: bool,
→⟧    pub depth: usize,
}

fn make(opts: &Opts) -> Config {
    Config {
        name: opts.name.clone(),
⟨        verbose: opts.verbose,
→⟩        depth: 3,
    }
}

fn small() -> Config {
    Config { name: String::new(), ⟨verbose: false, →⟩depth: 0 }
}

fn other() -> Other {
    Other { verbose: true }
}
",
    )]);
}

#[test]
fn an_added_field_is_given_the_variable_of_its_name() {
    check(&[(
        "file:///a.rs",
        "struct Config {
    name: String,
⟦→    depth: usize,
⟧}

impl Config {
    fn new(name: String, depth: usize) -> Self {
        Self { name⟨→, depth⟩ }
    }
}

fn other(name: String) -> Config {
    Config { name }
}
",
    )]);
}

#[test]
fn an_added_field_is_given_what_others_give_it() {
    check(&[(
        "file:///a.go",
        "package a

type Case struct {
	Name string
⟦→	Strict bool
⟧}

var cases = []Case{
	Case{Name: \"a\"⟦→, Strict: false⟧},

	Case{Name: \"b\"⟨→, Strict: false⟩},
}
",
    )]);
}

#[test]
fn an_added_field_is_given_its_variable_in_typescript() {
    medium(&[(
        "file:///a.ts",
        "export interface Point {
    x: number;
    y: number;
⟦→    z: number;
⟧}

function make(x: number, y: number, z: number): Point {
    return { x, y⟨→, z⟩ };
}

function log(x: number, z: number) {
    const point: Point = {
        x,
        y: 0⟨→,
        z⟩,
    };
    const other = { x, y: 0 };
}

export const at = (x: number, z: number): Point => ({ x, y: 1⟨→, z⟩ });
export const flat = (x: number): Point => ({ x, y: 1 });
",
    )]);
    // Who may leave it out is not asked for it, and where nothing has its name nobody knows what to give.
    silent(&[(
        "file:///a.ts",
        "interface Point {
    x: number;
⟦→    z?: number;
⟧}

function make(x: number, z: number): Point {
    return { x };
}
",
    )]);
}

#[test]
fn a_pattern_needs_no_added_field() {
    silent(&[(
        "file:///a.rs",
        "struct P {
    x: u8,
    y: u8,
⟦→    z: u8,
⟧}

fn f(p: P, z: u8) -> u8 {
    let P { x, y } = p;
    x + y + z
}
",
    )]);
}
