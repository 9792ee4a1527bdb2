//! A changed enumeration is carried to its arms and patterns.

use nudge_predict::PredictorName;

use crate::fixture::{Fixture, check_silent};

/// Everything that is marked follows at the bar of medium eagerness, and nothing else.
fn check(files: &[(&str, &str)]) {
    Fixture::new(PredictorName::Signature, files).check(0.55);
}

fn silent(files: &[(&str, &str)]) {
    check_silent(PredictorName::Signature, files, 0.3);
}

#[test]
fn a_new_variant_gets_its_arms_in_rust() {
    check(&[(
        "file:///a.rs",
        "enum Kind {
    Red,
    BlueSky,
⟦→    DeepSea,
⟧    Gold,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Red => \"red\",
            Kind::BlueSky => \"blue_sky\", // as in summer
⟨→            Kind::DeepSea => \"deep_sea\",
⟩            Kind::Gold => \"gold\",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        match name {
            \"red\" => Some(Self::Red),
            \"blue-sky\" => Some(Self::BlueSky),
⟨→            \"deep-sea\" => Some(Self::DeepSea),
⟩            \"gold\" => Some(Self::Gold),
            _ => None,
        }
    }

    fn paint(self, canvas: &mut Canvas) {
        match self {
            Self::Red => {
                canvas.fill(RED);
            }
            Self::BlueSky => {
                canvas.fill(BLUE_SKY);
            }
⟨→            Self::DeepSea => {
                canvas.fill(DEEP_SEA);
            }
⟩            Self::Gold => {
                canvas.fill(GOLD);
            }
        }
    }
}
",
    )]);
}

#[test]
fn a_new_variant_is_put_last_and_first_too() {
    check(&[(
        "file:///a.rs",
        "enum E {
    A,
    B,
⟦→    Cee,
⟧}

fn name(e: &E) -> &str {
    match e {
        E::A => \"a\",
        E::B => \"b\",
⟨→        E::Cee => \"cee\",
⟩    }
}

fn short(e: &E) -> &str {
    match e { E::A => \"a\", E::B => \"b\"⟨→, E::Cee => \"cee\"⟩ }
}
",
    )]);
    check(&[(
        "file:///a.rs",
        "enum E {
⟦→    Zero,
⟧    A,
    B,
}

fn name(e: &E) -> &str {
    match e {
⟨→        E::Zero => \"zero\",
⟩        E::A => \"a\",
        E::B => \"b\",
    }
}
",
    )]);
}

#[test]
fn several_new_variants_come_together() {
    check(&[(
        "file:///a.rs",
        "enum E {
    A,
⟦→    One,
    Two,
⟧    B,
}

fn name(e: &E) -> &str {
    match e {
        E::A => \"a\",
⟨→        E::One => \"one\",
        E::Two => \"two\",
⟩        E::B => \"b\",
    }
}
",
    )]);
}

#[test]
fn a_new_variant_carries_what_it_is_declared_with() {
    check(&[
        (
            "file:///event.rs",
            "pub enum Event {
    Key(Key),
    Mouse { x: u16, y: u16 },
    Quit,
⟦→    Resize(u16, u16),
⟧}
",
        ),
        (
            "file:///name.rs",
            "fn name(event: &Event) -> &str {
    match event {
        Event::Key(_) => \"key\",
        Event::Mouse { .. } => \"mouse\",
        Event::Quit => \"quit\",
⟨→        Event::Resize(..) => \"resize\",
⟩    }
}
",
        ),
    ]);
    check(&[(
        "file:///a.rs",
        "enum Shape {
    Circle(Circle),
    Square(Square),
⟦→    Star(Star),
⟧}

fn area(shape: &Shape) -> f32 {
    match shape {
        Shape::Circle(inner) => inner.area(),
        Shape::Square(inner) => inner.area(),
⟨→        Shape::Star(inner) => inner.area(),
⟩    }
}
",
    )]);
}

#[test]
fn a_new_variant_gets_its_cases_in_typescript() {
    check(&[(
        "file:///a.ts",
        "export enum Level {
  Low,
  High,
⟦→  VeryHigh,
⟧}

function handle(level: Level, x: number) {
  switch (level) {
    case Level.Low:
      return handleLow(x);
    case Level.High:
      return handleHigh(x);
⟨→    case Level.VeryHigh:
      return handleVeryHigh(x);
⟩    default:
      throw new Error('level');
  }
}

const handlers: Record<Level, Handler> = {
  [Level.Low]: onLow,
  [Level.High]: onHigh,
⟨→  [Level.VeryHigh]: onVeryHigh,
⟩};
",
    )]);
    check(&[(
        "file:///a.ts",
        "export type Shape = 'circle' | 'square'⟦→ | 'star'⟧;

export function area(shape: Shape) {
  switch (shape) {
    case 'circle':
      return circleArea();
    case 'square':
      return squareArea();
⟨→    case 'star':
      return starArea();
⟩  }
}
",
    )]);
}

#[test]
fn a_new_variant_gets_its_cases_in_java() {
    check(&[
        ("file:///Level.java", "enum Level {\n    LOW,\n    HIGH,\n⟦→    TOP,\n⟧}\n"),
        (
            "file:///Names.java",
            "class Names {
    static String of(Level level) {
        switch (level) {
            case LOW:
                return \"low\";
            case HIGH:
                return \"high\";
⟨→            case TOP:
                return \"top\";
⟩            default:
                return \"\";
        }
    }
}
",
        ),
    ]);
    check(&[(
        "file:///Names.java",
        "class Names {
    enum Level { LOW, HIGH_UP⟦→, VERY_HIGH⟧ }

    static String of(Level level) {
        return switch (level) {
            case LOW -> \"low\";
            case HIGH_UP -> \"high-up\";
⟨→            case VERY_HIGH -> \"very-high\";
⟩        };
    }
}
",
    )]);
}

#[test]
fn a_new_variant_gets_its_cases_in_c_sharp() {
    check(&[(
        "file:///Names.cs",
        "enum Level { Low, High⟦→, VeryHigh⟧ }

class Names {
    static string Of(Level level) => level switch {
        Level.Low => \"Low\",
        Level.High => \"High\",
⟨→        Level.VeryHigh => \"VeryHigh\",
⟩        _ => throw new ArgumentException(),
    };

    void Handle(Level level) {
        switch (level) {
            case Level.Low:
                HandleLow();
                break;
            case Level.High:
                HandleHigh();
                break;
⟨→            case Level.VeryHigh:
                HandleVeryHigh();
                break;
⟩        }
    }
}
",
    )]);
}

#[test]
fn a_new_variant_gets_its_cases_in_c() {
    check(&[
        (
            "file:///level.h",
            "enum level {
    LEVEL_LOW,
    LEVEL_HIGH_UP,
⟦→    LEVEL_VERY_HIGH,
⟧};
",
        ),
        (
            "file:///level.c",
            "const char *level_name(enum level level)
{
    switch (level) {
    case LEVEL_LOW: return \"low\";
    case LEVEL_HIGH_UP: return \"high up\";
⟨→    case LEVEL_VERY_HIGH: return \"very high\";
⟩    }
    return NULL;
}
",
        ),
    ]);
    check(&[(
        "file:///level.cpp",
        "enum class Level { Low, High⟦→, VeryHigh⟧ };

std::string name(Level level) {
    switch (level) {
        case Level::Low:
            return to_string(Level::Low);

        case Level::High:
            return to_string(Level::High);
⟨→
        case Level::VeryHigh:
            return to_string(Level::VeryHigh);
⟩    }
}
",
    )]);
}

#[test]
fn a_new_constant_gets_its_cases_in_go() {
    check(&[(
        "file:///a.go",
        "package a

const (
	KindRed Kind = iota
	KindBlue
⟦→	KindGold
⟧)

func (k Kind) String() string {
	switch k {
	case KindRed:
		return \"red\"
	case KindBlue:
		return \"blue\"
⟨→	case KindGold:
		return \"gold\"
⟩	default:
		return \"\"
	}
}
",
    )]);
}

#[test]
fn a_new_member_gets_its_cases_in_python() {
    check(&[(
        "file:///a.py",
        "class Level(Enum):
    LOW = 1
    HIGH = 2
⟦→    TOP = 3
⟧

def name(level):
    match level:
        case Level.LOW:
            return \"low\"
        case Level.HIGH:
            return \"high\"
⟨→        case Level.TOP:
            return \"top\"
⟩
",
    )]);
}

#[test]
fn arms_that_do_not_show_how_say_nothing() {
    let enumeration = "enum E {\n    A,\n    B,\n⟦→    Cee,\n⟧}\n\n";
    let bodies = [
        // What they do cannot be told from the name.
        "E::A => 1,\n        E::B => 2,\n",
        "E::A => \"a\",\n        E::B => \"other\",\n",
        // One shows nothing yet, and two that do the same may do so by chance.
        "E::A => \"a\",\n        _ => \"rest\",\n",
        "E::A => run(),\n        E::B => run(),\n",
        // It is there.
        "E::A => \"a\",\n        E::B => \"b\",\n        E::Cee => \"cee\",\n",
        "E::A => \"a\",\n        E::B => \"b\",\n        E::Cee | E::A => \"cee\",\n",
        // Another type.
        "F::A => \"a\",\n        F::B => \"b\",\n",
        // From one to the other.
        "E::A => E::B,\n        E::B => E::A,\n",
    ];
    for body in bodies {
        let text = format!("{enumeration}fn f(e: E) {{\n    match e {{\n        {body}    }}\n}}\n");
        silent(&[("file:///a.rs", &text)]);
    }
    // How it is spelt cannot be told.
    silent(&[(
        "file:///a.rs",
        "enum E {\n    A,\n    B,\n⟦→    DeepSea,\n⟧}\n\nfn f(e: E) -> &str {\n    match e {\n        E::A => \"a\",\n        E::B => \"b\",\n    }\n}\n",
    )]);
    // Who renames adds nothing, and few of many are chosen.
    silent(&[(
        "file:///a.ts",
        "enum E {\n  A,\n  ⟦B→Bee⟧,\n  C,\n}\n\nfunction f(e: E) {\n  switch (e) {\n    case E.A:\n      return 'a';\n    case E.C:\n      return 'c';\n  }\n}\n",
    )]);
    silent(&[(
        "file:///a.ts",
        "enum E {\n  A,\n  B,\n  C,\n  D,\n⟦→  Eve,\n⟧}\n\nfunction f(e: E) {\n  switch (e) {\n    case E.C:\n      return 'c';\n    case E.D:\n      return 'd';\n    default:\n      return '';\n  }\n}\n",
    )]);
}

#[test]
fn patterns_follow_what_a_variant_carries() {
    check(&[
        (
            "file:///a.rs",
            "pub enum Kind {
    A,
    B⟦→(u8)⟧,
}

fn f(kind: &Kind) -> u8 {
    match kind {
        Kind::A => 1,
        Kind::B⟨→(_)⟩ => 2,
    }
}

fn g(kind: &Kind) -> bool {
    if let Kind::B⟨→(_)⟩ = kind {
        return true;
    }
    matches!(kind, Kind::A | Kind::B⟨→(_)⟩ if f(kind) > 0)
}

fn make() -> Kind {
    Kind::B
}
",
        ),
        (
            "file:///b.rs",
            "fn f(kind: Option<Kind>) -> u8 {
    match kind {
        Some(Kind::A | crate::Kind::B⟨→(_)⟩) => 1,
        Some(Other::B) | None => check(Kind::B),
    }
}
",
        ),
    ]);
    check(&[(
        "file:///a.rs",
        "enum Kind {
    A,
    B⟦→ { x: u8 }⟧,
}

impl Kind {
    fn f(&self) -> u8 {
        match self {
            Self::A => 1,
            Self::B⟨→ { .. }⟩ => 2,
        }
    }
}

impl Other {
    fn f(&self) -> u8 {
        match self {
            Self::B => 2,
        }
    }
}
",
    )]);
}

#[test]
fn patterns_lose_what_a_variant_carries_no_more() {
    check(&[(
        "file:///a.rs",
        "enum Kind {
    A(u8),
    B⟦(u8, u8)→⟧,
}

fn f(kind: &Kind) -> u8 {
    match kind {
        Kind::A(_) => 1,
        Kind::B⟨(..)→⟩ => 2,
    }
}

fn g(kind: &Kind) -> u8 {
    match kind {
        Kind::A(a) => *a,
        Kind::B(_, b) => *b,
    }
}
",
    )]);
}

#[test]
fn a_variant_that_carries_the_same_changes_nothing() {
    silent(&[(
        "file:///a.rs",
        "enum Kind {
    A,
    B(⟦u8→u16⟧),
}

fn f(kind: &Kind) -> u8 {
    match kind {
        Kind::A => 1,
        Kind::B(_) => 2,
    }
}
",
    )]);
    // The one that is there has nothing before either, and other languages carry nothing.
    silent(&[(
        "file:///Level.java",
        "enum Level {
    LOW⟦→(1)⟧,
    HIGH(2);

    int f(Level level) {
        switch (level) {
            case LOW:
                return 1;
            default:
                return 2;
        }
    }
}
",
    )]);
}
