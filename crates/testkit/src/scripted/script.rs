//! What a prompt tells it to do: commands, separated by `;`.

use std::time::Duration;

/// One thing to do. Words in capitals are arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Command {
    /// `say TEXT`, or anything that is no other command.
    Say(String),
    /// `sleep MS` or `until FILE`.
    Wait(Until),
    /// `deaf MS` or `deaf FILE`: as `sleep` and `until`, but the user cannot end it. It is noted when it begins.
    Deaf(Until),
    /// `tool ID MS` or `tool ID FILE`: a tool call that runs that long, or until FILE is there.
    Tool(String, Until),
    /// `ask ID` or `ask ID JSON`: asks for permission, with these members more in the tool call, and says the outcome.
    Ask(String, String),
    /// `read PATH`, by the client; says what it reads.
    Read(String),
    /// `write PATH TEXT`, by the client.
    Write(String, String),
    /// `term COMMAND`, by the client; says what it prints.
    Terminal(String),
    /// `ext`: asks the client `_test/ask`, and says the answer; `ext global`: without a session.
    Extension { is_global: bool },
    /// `stray METHOD`: asks the client that about a session that nobody has, and says the answer; `stray global METHOD`: about
    /// none.
    Stray { is_global: bool, method: String },
    /// `note`: tells the client `_test/note`; `note global`: without a session.
    Note { is_global: bool },
    /// `recall`: says all that the user has said.
    Recall,
    /// `die`: the process ends with status 3.
    Die,
    /// `hang`: it neither answers nor ends any more.
    Hang,
    /// `flood N` or `flood N BYTES`: N updates as fast as it can, each with so much text.
    Flood(usize, usize),
    /// `updates N JSON`: this update, N times.
    Updates(usize, String),
    /// `garbage`: lines that are no messages.
    Garbage,
    /// `twice`: the prompt is answered twice.
    Twice,
    /// `unknown`: answers to requests that nobody has sent.
    Unknown,
    /// `odd`: an update of an unknown kind, oddly written.
    Odd,
    /// `plan`: a plan of two entries.
    Plan,
    /// `mode ID`: switches to that mode.
    Mode(String),
    /// `form`: asks the client for a form to be filled in, and says the answer; `form url`: for a page to be visited, and tells
    /// then that it is done with; `form MODE`: in another way.
    Form(String),
    /// `rude`: the session is named, a tool called and something said with what commands a terminal.
    Rude,
    /// `fail`: the turn ends with an error.
    Fail,
}

/// How long something takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Until {
    Passed(Duration),
    Exists(String),
}

/// Reads a script.
pub(super) fn parse(text: &str) -> Vec<Command> {
    text.split(';').map(str::trim).filter(|part| !part.is_empty()).map(command).collect()
}

fn command(text: &str) -> Command {
    let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
    let two = || rest.split_once(' ').unwrap_or((rest, ""));
    let is_global = rest == "global";
    match (name, rest) {
        ("say", _) => Command::Say(rest.to_owned()),
        ("sleep" | "until", _) => Command::Wait(until(rest)),
        ("deaf", _) => Command::Deaf(until(rest)),
        ("tool", _) => Command::Tool(two().0.to_owned(), until(two().1)),
        ("ask", _) => Command::Ask(two().0.to_owned(), two().1.to_owned()),
        ("read", _) => Command::Read(rest.to_owned()),
        ("write", _) => Command::Write(two().0.to_owned(), two().1.to_owned()),
        ("term", _) => Command::Terminal(rest.to_owned()),
        ("ext", _) => Command::Extension { is_global },
        ("stray", _) => match rest.strip_prefix("global ") {
            Some(method) => Command::Stray { is_global: true, method: method.to_owned() },
            None => Command::Stray { is_global, method: rest.to_owned() },
        },
        ("note", _) => Command::Note { is_global },
        ("flood", _) => Command::Flood(two().0.parse().unwrap_or(1), two().1.parse().unwrap_or(100)),
        ("updates", _) => Command::Updates(two().0.parse().unwrap_or(1), two().1.to_owned()),
        ("mode", _) => Command::Mode(rest.to_owned()),
        ("recall", "") => Command::Recall,
        ("die", "") => Command::Die,
        ("hang", "") => Command::Hang,
        ("garbage", "") => Command::Garbage,
        ("twice", "") => Command::Twice,
        ("unknown", "") => Command::Unknown,
        ("odd", "") => Command::Odd,
        ("plan", "") => Command::Plan,
        ("form", _) => Command::Form(rest.to_owned()),
        ("rude", "") => Command::Rude,
        ("fail", "") => Command::Fail,
        _ => Command::Say(text.to_owned()),
    }
}

fn until(text: &str) -> Until {
    text.parse()
        .map_or_else(|_| Until::Exists(text.to_owned()), |ms| Until::Passed(Duration::from_millis(ms)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_a_script() {
        let script = parse("say a b; tool t 20 ;until go;hello there; recall");
        let expected = [
            Command::Say("a b".into()),
            Command::Tool("t".into(), Until::Passed(Duration::from_millis(20))),
            Command::Wait(Until::Exists("go".into())),
            Command::Say("hello there".into()),
            Command::Recall,
        ];
        assert_eq!(script, expected);
    }
}
