//! `nudge approve`, `reject` and `answer`: a session that waits for the user is helped on from any terminal.

use std::process::ExitCode;

use anyhow::{Result, bail};
use nudge_store::{SessionRow, TranscriptPages};
use serde_json::{Value, json};

use super::{
    DaemonLink,
    control::{self, DaemonClient},
    form,
    permission_text::{self, ToldCalls},
    render,
    store_view::{self, LookupPurpose, StoreView},
};
use crate::{data_place::DataPlace, output, terminal_text};

/// Permit what a session asks for
///
/// Without SESSION: the session of this folder that waits for permission. What was permitted is said.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nudge approve               what the session of this folder asks for, this once
  nudge approve last --always and do not ask again for the like
  nudge approve sess_b1 --question 2 --option allow_session")]
pub(crate) struct ApproveArgs {
    #[command(flatten)]
    answer: Answer,
    /// The choice that also permits the like from now on
    #[arg(long, conflicts_with = "option")]
    always: bool,
}

/// Refuse what a session asks for
///
/// Without SESSION: the session of this folder that waits for permission. What was refused is said.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nudge reject                what the session of this folder asks for, this once
  nudge reject last --always  and the like from now on")]
pub(crate) struct RejectArgs {
    #[command(flatten)]
    answer: Answer,
    /// The choice that also refuses the like from now on
    #[arg(long, conflicts_with = "option")]
    always: bool,
}

/// Fill in a form that an agent asks for
///
/// A word without `=` is the session; without one it is that of this folder that waits. Without any field, what is asked is
/// shown. An agent asks for a form only while a client that shows forms is attached: an editor that does, or `nudge watch`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nudge answer                              what is asked?
  nudge answer name=ada count=3 tags=a,b    fill it in
  nudge answer sess_b1 --decline            say no")]
pub(crate) struct FillArgs {
    /// The session, and the fields as NAME=VALUE
    #[arg(value_name = "SESSION|NAME=VALUE")]
    words: Vec<String>,
    /// Which question, if several are open; they are listed then
    #[arg(long, value_name = "NUMBER")]
    question: Option<u64>,
    /// Agree to what has no fields, such as to visit a page
    #[arg(long, conflicts_with = "decline")]
    accept: bool,
    /// Say no
    #[arg(long)]
    decline: bool,
}

#[derive(Debug, clap::Args)]
struct Answer {
    /// An id, the beginning of one, or `last` for the newest of this folder
    session: Option<String>,
    /// Which question, if several are open; they are listed then
    #[arg(long, value_name = "NUMBER")]
    question: Option<u64>,
    /// Which choice of those that the agent offers
    #[arg(long, value_name = "ID")]
    option: Option<String>,
}

pub(crate) fn approve(args: &ApproveArgs, place: &DataPlace) -> Result<ExitCode> {
    decide(&args.answer, if args.always { "allow_always" } else { "allow_once" }, place)
}

pub(crate) fn reject(args: &RejectArgs, place: &DataPlace) -> Result<ExitCode> {
    decide(&args.answer, if args.always { "reject_always" } else { "reject_once" }, place)
}

fn decide(args: &Answer, kind: &str, place: &DataPlace) -> Result<ExitCode> {
    let meant = Meant { method: PERMISSION, session: args.session.as_deref(), number: args.question };
    on_question(place, &meant, |question| {
        let option = choice(question, kind, args.option.as_deref())?;
        let name = option["name"].as_str().or_else(|| option["optionId"].as_str()).unwrap_or_default();
        let outcome = json!({ "outcome": "selected", "optionId": option["optionId"] });
        Ok(Some((json!({ "outcome": outcome }), terminal_text::row(name))))
    })
}

pub(crate) fn answer(args: &FillArgs, place: &DataPlace) -> Result<ExitCode> {
    let (fields, names): (Vec<&str>, Vec<&str>) =
        args.words.iter().map(String::as_str).partition(|word| word.contains('='));
    if names.len() > 1 {
        bail!("expected one session, and fields as NAME=VALUE");
    }
    let meant = Meant { method: FORM, session: names.first().copied(), number: args.question };
    on_question(place, &meant, |question| {
        if args.decline {
            return Ok(Some((json!({ "action": "decline" }), "declined".to_owned())));
        }
        if fields.is_empty() && !args.accept {
            output::say(form::shown(&question["request"]))?;
            return Ok(None);
        }
        let content = form::filled(&question["request"], &fields)?;
        Ok(Some((json!({ "action": "accept", "content": content }), "answered".to_owned())))
    })
}

const PERMISSION: &str = "session/request_permission";
const FORM: &str = "elicitation/create";
/// How many of the last entries of a session are looked through for what was told of a tool call.
const LOOKED_BACK: u64 = 500;

/// Which question is meant.
struct Meant<'a> {
    method: &'a str,
    session: Option<&'a str>,
    number: Option<u64>,
}

/// Finds the question that is meant and answers it with what `decide` makes of it: the result, and what is said of it.
fn on_question(
    place: &DataPlace,
    meant: &Meant<'_>,
    decide: impl FnOnce(&Value) -> Result<Option<(Value, String)>>,
) -> Result<ExitCode> {
    let runtime = control::runtime()?;
    runtime.block_on(async {
        let store_view = StoreView::open(place).await?;
        let named = match meant.session {
            Some(name) => Some(store_view.find(name, LookupPurpose::Decide).await?),
            None => None,
        };
        let Some(control) = DaemonLink::connect(place)? else {
            bail!("no daemon runs, so no session waits for an answer");
        };
        control
            .run(async |client| {
                let question = open(client, &store_view, named.as_ref(), meant).await?;
                let Some((result, done)) = decide(&question)? else { return Ok(ExitCode::SUCCESS) };
                let (session, id) = (&question["sessionId"], &question["questionId"]);
                let answer = json!({ "sessionId": session, "questionId": id, "result": result });
                let answered = client.request("_nudge/answer", &answer).await?;
                if answered["answered"] != true {
                    bail!("the question is not open any more; somebody else may have answered it");
                }
                output::say(format!("{done}: {}", permission_text::whole(&question["request"])))?;
                if let Some(session) = store_view.0.session(session.as_str().unwrap_or_default()).await? {
                    output::remark(format!("in {}", render::named(&session)));
                }
                Ok(ExitCode::SUCCESS)
            })
            .await
    })
}

/// The one question that is meant. If it cannot be told which, those there are are listed.
async fn open(
    client: &mut DaemonClient,
    store_view: &StoreView,
    named: Option<&SessionRow>,
    wanted: &Meant<'_>,
) -> Result<Value> {
    let answer = client.request("_nudge/questions", &json!({})).await?;
    // What was told of the tool call is read from the store.
    client.settle().await;
    let mut all = answer["questions"].as_array().cloned().unwrap_or_default();
    all.retain(|question| question["method"] == wanted.method);
    let folders = store_view::this_folder_and_above();
    let mut meant = Vec::new();
    for question in &all {
        let id = question["sessionId"].as_str().unwrap_or_default();
        // How far away it is, if it may be meant.
        let distance = match named {
            Some(session) => (*session.id == *id).then_some(0),
            None => match store_view.0.session(id).await? {
                Some(session) => folders.iter().position(|folder| *folder == session.cwd),
                None => None,
            },
        };
        let is_asked = wanted.number.is_none_or(|number| question["questionId"] == number);
        meant.extend(distance.filter(|_| is_asked).map(|distance| (distance, question.clone())));
    }
    let nearest = meant.iter().map(|(distance, _)| *distance).min();
    meant.retain(|(distance, _)| Some(*distance) == nearest);
    let mut meant: Vec<Value> = meant.into_iter().map(|(_, question)| question).collect();
    for question in meant.iter_mut().chain(&mut all) {
        fill_in(question, store_view).await?;
    }
    if meant.len() == 1 {
        return Ok(meant.remove(0));
    }
    for question in if meant.is_empty() && named.is_none() { &all } else { &meant } {
        output::remark(listed(question, store_view).await?);
    }
    match (meant.is_empty(), named) {
        (false, _) => {
            bail!("several questions are open: name the session, and the question with --question NUMBER")
        }
        (true, None) if !all.is_empty() => {
            bail!("no session of this folder waits for this: name the session")
        }
        (true, _) if wanted.method == FORM => bail!(
            "nothing waits to be filled in; an agent asks for a form only while a client that shows forms is attached, and \
             `nudge watch` is one"
        ),
        (true, _) => bail!("nothing waits for permission; `nudge status` shows what the sessions do"),
    }
}

/// Adds to a question what the session has told of the tool call lately.
async fn fill_in(question: &mut Value, store_view: &StoreView) -> Result<()> {
    let id = question["sessionId"].as_str().unwrap_or_default().to_owned();
    let last = store_view.0.last_seq(&id).await?.unwrap_or_default();
    let mut told = ToldCalls::default();
    let mut pages = TranscriptPages::new(&*store_view.0, &id, last.saturating_sub(LOOKED_BACK));
    while let Some(page) = pages.next().await? {
        for entry in page {
            told.update(&serde_json::from_slice(&entry.frame).unwrap_or_default());
        }
    }
    told.fill_in(&mut question["request"]);
    Ok(())
}

/// The choice of this id, or the first of this kind.
fn choice<'a>(question: &'a Value, kind: &str, id: Option<&str>) -> Result<&'a Value> {
    let options = question["request"]["options"].as_array().map_or(&[][..], Vec::as_slice);
    let is_meant = |option: &&Value| match id {
        Some(id) => option["optionId"] == id,
        None => option["kind"] == kind,
    };
    if let Some(option) = options.iter().find(is_meant) {
        return Ok(option);
    }
    output::remark(choices(&question["request"]));
    match id {
        Some(_) => bail!("the agent offers no choice of that id; choose one of these with --option ID"),
        None => bail!("the agent offers no choice of the kind {kind}; choose one of these with --option ID"),
    }
}

/// A question in a list of several.
async fn listed(question: &Value, store_view: &StoreView) -> Result<String> {
    let id = question["sessionId"].as_str().unwrap_or_default();
    let session = store_view.0.session(id).await?;
    let named = session.map_or_else(|| terminal_text::one_line(id), |session| render::named(&session));
    let (number, request) = (&question["questionId"], &question["request"]);
    let detail = if request["options"].is_array() { choices(request) } else { form::fields(request) };
    Ok(format!("question {number}: {}\n  in {named}\n{detail}", permission_text::whole(request)))
}

/// A question as it is put to whoever looks on.
pub(super) fn asked(request: &Value, session: &str) -> String {
    let session = terminal_text::one_line(session);
    if request["options"].is_array() {
        let ways = format!("nudge approve {session}, or nudge reject {session}");
        let what = permission_text::whole(request);
        return format!("[asks] {what}\n{}\n  answer from any terminal: {ways}", choices(request));
    }
    format!("[asks] {}\n  answer from any terminal: nudge answer {session}", form::shown(request))
}

fn choices(request: &Value) -> String {
    let options = request["options"].as_array().into_iter().flatten();
    let text = |value: &Value| terminal_text::row(value.as_str().unwrap_or("-"));
    let lines = options.map(|option| {
        let (id, name, kind) = (text(&option["optionId"]), text(&option["name"]), text(&option["kind"]));
        format!("  {id}  {name}  ({kind})")
    });
    lines.collect::<Vec<_>>().join("\n")
}
