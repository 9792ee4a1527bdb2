//! One question to the model, and its answer as it comes.

use std::{
    borrow::Cow,
    pin::pin,
    sync::Arc,
    time::{Duration, SystemTime},
};

use futures_util::StreamExt;
use nudge_backend::BackendEvent;
use nudge_model::{
    AccessOrigin, AnswerOptions, AnswerPiece, ChosenModel, ModelError, ModelRequest, REHEARSAL, RetryPlan,
    StopReason, TokenCount, ToolCall, known_model,
};

use nudge_wire::scrub::{SecretScrubber, StreamScrubber};
use tokio::time::Instant;

use super::{AgentSession, AskedModel, Halt, open::OpenCall};
use crate::{
    tools::{self, UnderstoodToolCall},
    update,
};

const SYSTEM: &str = "You are a coding agent. You work in the user's workspace with the tools you are given. Paths are \
    relative to the workspace. Be brief. What the user says while you work is more recent than what they said before.";

/// The shortest pause that the user is told of as it begins. Whatever is wrong is to be seen within a second, so there has to be time
/// left for the request that follows a shorter one to fail too.
const SHOWN_PAUSE: Duration = Duration::from_millis(500);

/// How long a provider is silent before the user is told that it is. Before an answer begins and while it thinks, some are silent for
/// many seconds and nothing is wrong.
const TOLD_SILENCE: Duration = Duration::from_secs(20);

/// How many tools one answer may call; more are not run.
const MOST_CALLS: usize = 64;

/// How much one answer may hold of what is kept.
const MOST_BYTES: usize = 64 << 20;

/// An answer that is over.
pub(super) struct ModelAnswer {
    pub(super) calls: Vec<PlannedToolCall>,
    pub(super) stop: StopReason,
    /// Whether the user interrupted it.
    pub(super) was_cut: bool,
    /// Whether it says or does something.
    pub(super) has_content: bool,
}

/// A tool call to be run.
pub(super) struct PlannedToolCall {
    pub(super) id: String,
    pub(super) model_id: String,
    /// Or why it cannot be.
    pub(super) tool: Result<Box<dyn UnderstoodToolCall>, String>,
}

/// How a question to the model went.
enum AskOutcome {
    Answered(ModelAnswer),
    /// It failed, before or after its first word.
    Failed {
        error: ModelError,
        has_begun: bool,
    },
}

impl AgentSession {
    /// Asks the model. Gives nothing if it is to be asked again, after what the user has said meanwhile is taken in.
    pub(super) async fn answer(&mut self, retry: &mut RetryPlan) -> Result<Option<ModelAnswer>, Halt> {
        let mut without_reasoning = false;
        loop {
            self.outlet.send(BackendEvent::StreamStarted).await?;
            self.open.streaming = true;
            let (error, has_begun) = match self.ask(without_reasoning).await? {
                AskOutcome::Answered(answer) => {
                    self.end_stream().await?;
                    return Ok(Some(answer));
                }
                AskOutcome::Failed { error, has_begun } => (error, has_begun),
            };
            self.history.drop_empty_answer();
            if has_begun {
                return Err(Halt::Failed(error));
            }
            if matches!(error, ModelError::Reasoning { .. }) && !without_reasoning {
                without_reasoning = true;
                // Nor will it be taken the next time.
                self.history.forget_reasoning();
                self.end_stream().await?;
                continue;
            }
            let Some(wait) = retry.after(&error, SystemTime::now(), nudge_model::chance()) else {
                return Err(Halt::Failed(error));
            };
            self.wait(&error, wait, retry.attempt()).await?;
            return Ok(None);
        }
    }

    /// One request, and its answer as far as it comes.
    async fn ask(&mut self, without_reasoning: bool) -> Result<AskOutcome, Halt> {
        let control = Arc::clone(&self.control);
        let mut answer =
            ModelAnswer { calls: Vec::new(), stop: StopReason::EndTurn, was_cut: false, has_content: false };
        let wanted = self.outlet.config().model().map(str::to_owned);
        // What nobody has chosen is for a whole turn what it was at first.
        let before = match self.asked_in_turn() {
            Some(AskedModel::Chosen(model)) => Some(model.clone()),
            Some(AskedModel::Fixed) | None => None,
        };
        let asked = wanted.clone().or(before);
        let chosen = tokio::select! {
            biased;
            () = control.interrupted() => {
                answer.was_cut = true;
                return Ok(AskOutcome::Answered(answer));
            }
            chosen = self.models.choose(&self.client, asked.as_deref()) => chosen,
        };
        let chosen = match chosen.and_then(|chosen| self.stays_with(chosen, wanted.as_deref())) {
            Ok(chosen) => chosen,
            Err(error) => return Ok(AskOutcome::Failed { error, has_begun: false }),
        };
        // Also the key that was read just now.
        self.learn_secrets();
        self.tell_model(&chosen, wanted.as_deref()).await?;
        let options = self.outlet.config().answer_options(chosen.choice.as_ref());
        let context = options.context_size.or(chosen.choice.as_ref().and_then(|choice| choice.context));
        let mut pieces = chosen.model.stream(ModelRequest {
            system: SYSTEM.to_owned(),
            messages: self.history.messages(),
            tools: self.tools.specs(),
            options: AnswerOptions { without_reasoning, ..options },
        });
        self.history.agent();
        let mut ids = MessageIds::default();
        let (mut has_begun, mut tokens) = (false, None);
        let mut left = MOST_BYTES;
        let mut silence = pin!(tokio::time::sleep(TOLD_SILENCE));
        let (mut heard, mut is_silence_told) = (Instant::now(), chosen.origin.is_none());
        loop {
            let piece = tokio::select! {
                biased;
                () = control.interrupted(), if !self.open.paused => {
                    answer.was_cut = true;
                    break;
                }
                piece = pieces.next() => piece,
                () = &mut silence, if !is_silence_told => {
                    // Set anew here and not for each piece, of which there are many.
                    silence.as_mut().reset(heard + TOLD_SILENCE);
                    if heard.elapsed() >= TOLD_SILENCE {
                        is_silence_told = true;
                        self.tell_of_silence(&chosen).await?;
                    }
                    continue;
                }
            };
            heard = Instant::now();
            let piece = match piece {
                None => break,
                Some(Err(error)) => {
                    self.say_rest(&mut ids).await?;
                    return Ok(AskOutcome::Failed { error, has_begun });
                }
                Some(Ok(piece)) => piece,
            };
            left = left.saturating_sub(weight(&piece));
            if left == 0 {
                self.say_rest(&mut ids).await?;
                return Ok(AskOutcome::Failed { error: endless(&chosen), has_begun: true });
            }
            // Some count what they were asked before they answer.
            has_begun |= !matches!(piece, AnswerPiece::Tokens(_));
            answer.has_content |=
                matches!(piece, AnswerPiece::Text(_) | AnswerPiece::ToolCall(_) | AnswerPiece::Plan(_));
            match piece {
                AnswerPiece::Stop(stop) => {
                    answer.stop = stop;
                    break;
                }
                AnswerPiece::ToolCall(call) if answer.calls.len() < MOST_CALLS => {
                    self.say_rest(&mut ids).await?;
                    answer.calls.push(self.announce(call).await?);
                }
                AnswerPiece::Tokens(count) => tokens = Some(count),
                piece => self.pass_on(piece, &mut ids).await?,
            }
        }
        drop(pieces);
        self.say_rest(&mut ids).await?;
        if let Some(tokens) = tokens {
            self.count(tokens, chosen.model.name(), context).await?;
        }
        Ok(AskOutcome::Answered(answer))
    }

    /// Tells that nothing comes, which may last for minutes until it is given up.
    async fn tell_of_silence(&mut self, chosen: &ChosenModel) -> Result<(), Halt> {
        let title = format!("{} has been silent for {} s", who(chosen), TOLD_SILENCE.as_secs());
        let more = "It is still waited for. You can cancel, or say something.";
        self.outlet.update(update::notice("info", &title, more)).await
    }

    /// Who was asked last in this turn.
    fn asked_in_turn(&self) -> Option<&AskedModel> {
        self.last_asked.as_ref().filter(|_| self.is_asked_in_turn)
    }

    /// A turn that has asked one provider asks no other, unless somebody wants that: what was said was said to the first.
    fn stays_with(&self, chosen: ChosenModel, wanted: Option<&str>) -> Result<ChosenModel, ModelError> {
        let now = chosen.choice.as_ref().map(|choice| provider_of(&choice.id));
        let before = match self.asked_in_turn() {
            Some(AskedModel::Chosen(model)) => provider_of(model),
            Some(AskedModel::Fixed) => REHEARSAL,
            None => return Ok(chosen),
        };
        let is_wanted = now.is_some_and(|now| wanted.is_some_and(|wanted| provider_of(wanted) == now));
        let is_same = now.map_or(before == REHEARSAL, |now| now == before);
        if is_same || is_wanted || chosen.origin == Some(AccessOrigin::Connection) {
            return Ok(chosen);
        }
        Err(ModelError::SignedOut { provider: before.to_owned() })
    }

    /// Tells which model was found without anybody having chosen it: once in a session, and when it is another provider's than
    /// before.
    async fn tell_model(&mut self, chosen: &ChosenModel, wanted: Option<&str>) -> Result<(), Halt> {
        let is_told = std::mem::replace(&mut self.is_model_told, true);
        let before = self.note_asked(chosen);
        let (Some(origin), Some(choice)) = (&chosen.origin, &chosen.choice) else { return Ok(()) };
        let is_wanted = wanted.is_some_and(|wanted| provider_of(wanted) == provider_of(&choice.id));
        let is_found = matches!(origin, AccessOrigin::Variable(_) | AccessOrigin::Local);
        let has_moved = before.is_some_and(|before| provider_of(&before) != provider_of(&choice.id));
        if is_wanted || !(has_moved || is_found && !is_told) {
            return Ok(());
        }
        let title = format!("{} answers", choice.id);
        let more = format!("It was taken because of {origin}. The option `model` has others.");
        self.outlet.update(update::notice("info", &title, &more)).await
    }

    /// Notes who is asked now; gives the model that was asked before, if it was one of a choice.
    fn note_asked(&mut self, chosen: &ChosenModel) -> Option<String> {
        self.is_asked_in_turn = true;
        let now = chosen.choice.as_ref();
        let now = now.map_or(AskedModel::Fixed, |choice| AskedModel::Chosen(choice.id.clone()));
        match self.last_asked.replace(now)? {
            AskedModel::Chosen(model) => Some(model),
            AskedModel::Fixed => None,
        }
    }

    /// Tells how full the context is, and what the session has cost, where both are known.
    async fn count(&mut self, tokens: TokenCount, model: &str, context: Option<u64>) -> Result<(), Halt> {
        let price = known_model(model).price;
        self.cost += price.map_or(0.0, |price| price.of(tokens));
        let Some(size) = context else { return Ok(()) };
        let cost = price.map(|_| self.cost);
        self.outlet.update(update::usage(tokens.input.saturating_add(tokens.output), size, cost)).await
    }

    /// Waits before the model is asked again. The user is told, unless it is the first time and goes by at once.
    async fn wait(&mut self, error: &ModelError, wait: Duration, attempt: u32) -> Result<(), Halt> {
        self.outlet.send(BackendEvent::Paused).await?;
        self.open.paused = true;
        if wait >= SHOWN_PAUSE || attempt > 1 {
            let notice = update::pause_notice(&error.to_string(), SystemTime::now(), wait, attempt);
            self.outlet.update(notice).await?;
        }
        tokio::time::sleep(wait).await;
        self.end_stream().await
    }

    async fn pass_on(&mut self, piece: AnswerPiece, ids: &mut MessageIds) -> Result<(), Halt> {
        match piece {
            AnswerPiece::Text(text) => {
                let text = ids.text_scrubber.push(&self.outlet.scrubber, text);
                self.say(&text, ids).await?;
            }
            AnswerPiece::Thought(text) => {
                let text = ids.thought_scrubber.push(&self.outlet.scrubber, text);
                self.think(&text, ids).await?;
            }
            // What has a key in it is not kept; the model can do without.
            AnswerPiece::Reasoning(reasoning) if self.has_secret(reasoning.content.as_str()) => {}
            AnswerPiece::Reasoning(reasoning) => {
                let id = ids.answer.get_or_insert_with(|| self.ids.mint("answer"));
                let kept = update::signed_reasoning(id, &reasoning);
                self.outlet.send(BackendEvent::Update(kept)).await?;
                self.history.reasoning(reasoning);
            }
            AnswerPiece::Plan(entries) => self.outlet.update(update::plan("plan", &entries)).await?,
            AnswerPiece::Usage { used, size } => self.outlet.update(update::usage(used, size, None)).await?,
            AnswerPiece::Paused => self.pause().await?,
            AnswerPiece::Resumed => {
                self.outlet.send(BackendEvent::Resumed).await?;
                self.open.paused = false;
            }
            _ => {}
        }
        Ok(())
    }

    async fn say(&mut self, text: &str, ids: &mut MessageIds) -> Result<(), Halt> {
        if text.is_empty() {
            return Ok(());
        }
        let id = ids.text.get_or_insert_with(|| self.ids.mint("msg"));
        self.outlet.update(update::message_chunk("agent_message_chunk", id, text)).await?;
        self.history.text(text);
        Ok(())
    }

    async fn think(&mut self, text: &str, ids: &mut MessageIds) -> Result<(), Halt> {
        if text.is_empty() {
            return Ok(());
        }
        let id = ids.thought.get_or_insert_with(|| self.ids.mint("thought"));
        self.outlet.update(update::message_chunk("agent_thought_chunk", id, text)).await
    }

    /// Says what was held back because it could have become a secret.
    async fn say_rest(&mut self, ids: &mut MessageIds) -> Result<(), Halt> {
        let (thought, text) = (ids.thought_scrubber.rest(), ids.text_scrubber.rest());
        self.think(&thought, ids).await?;
        self.say(&text, ids).await
    }

    fn has_secret(&self, text: &str) -> bool {
        matches!(self.outlet.scrubber.scrub(text), Cow::Owned(_))
    }

    async fn pause(&mut self) -> Result<(), Halt> {
        self.outlet.send(BackendEvent::Paused).await?;
        self.open.paused = true;
        let more = "What you say meanwhile is delivered when it goes on.";
        self.outlet.update(update::notice("info", "The model's provider asks to wait", more)).await
    }

    /// Tells of a call that the model wants, before it is run.
    async fn announce(&mut self, call: ToolCall) -> Result<PlannedToolCall, Halt> {
        let call = ToolCall { input: tools::shallow(call.input), ..call };
        let id = self.ids.mint("call");
        let tool = self.tools.understand(&call);
        let shown = tools::describe(&call, tool.as_deref().ok(), &self.roots);
        self.outlet.update(update::tool_call(&id, shown)).await?;
        let model_id = call.id.clone();
        self.history.call(call);
        self.open.calls.push(OpenCall {
            id: id.clone(),
            model_id: model_id.clone(),
            started: false,
            ended: false,
        });
        Ok(PlannedToolCall { id, model_id, tool })
    }
}

/// What the id of a model begins with.
fn provider_of(id: &str) -> &str {
    id.split_once('/').map_or(id, |(provider, _)| provider)
}

/// How much of a piece is kept.
fn weight(piece: &AnswerPiece) -> usize {
    match piece {
        AnswerPiece::Text(text) | AnswerPiece::Thought(text) => text.len(),
        AnswerPiece::Reasoning(reasoning) => reasoning.content.as_str().len(),
        AnswerPiece::ToolCall(call) => call.name.len() + call.id.len() + call.input.as_str().len(),
        _ => 1,
    }
}

/// Nobody writes that much.
fn endless(chosen: &ChosenModel) -> ModelError {
    ModelError::Malformed { provider: who(chosen).to_owned(), what: "it has no end".to_owned() }
}

/// The provider of a model, for people.
fn who(chosen: &ChosenModel) -> &str {
    chosen.choice.as_ref().map_or("The model", |choice| provider_of(&choice.id))
}

/// The ids of the messages of one answer, minted when they are needed.
#[derive(Default)]
struct MessageIds {
    /// For what is kept of it and not shown.
    answer: Option<String>,
    text: Option<String>,
    thought: Option<String>,
    text_scrubber: TextScrubber,
    thought_scrubber: TextScrubber,
}

/// Takes secrets out of text that comes in pieces.
#[derive(Default)]
struct TextScrubber(Option<StreamScrubber>);

impl TextScrubber {
    fn push(&mut self, scrubber: &SecretScrubber, text: String) -> String {
        if scrubber.is_empty() && self.0.is_none() {
            return text;
        }
        let stream = self.0.get_or_insert_with(|| StreamScrubber::new(scrubber.clone()));
        lossless(stream.push(text.as_bytes()))
    }

    fn rest(&mut self) -> String {
        self.0.take().map(|mut stream| lossless(stream.finish())).unwrap_or_default()
    }
}

/// Secrets are text, so what is left of a text without them is text.
fn lossless(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
