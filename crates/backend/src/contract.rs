//! What a session needs of an agent.

use std::pin::Pin;

use nudge_bridge::{IndexedUpdate, MethodCall};
use nudge_wire::{
    ClientContext, Environment, Error, RawJson, RequestOrigin, Version, caps::ElicitationModes,
};

use crate::{AgentQuestion, BackendEvent, QuestionAnswer, QuestionId, UserMessage};

/// Something that a backend does in its own time.
pub type BackendFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a steer does to an answer that is being streamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SteerMethod {
    /// The agent takes it while it works: [`Backend::steer`].
    Take,
    /// The stream is cut off by [`Backend::interrupt`], and the steer goes in at the break-point that follows.
    Interrupt,
    /// It waits for the next break-point.
    Wait,
}

/// How a session ends for its agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BackendParting {
    /// It may be taken up again.
    Leave,
    /// The user has closed it.
    Close,
    /// The user has deleted it.
    Delete,
}

/// How an option is set.
pub enum OptionPlan {
    /// The agent agrees. Once `config` is kept, [`Backend::set_option`] sets it.
    Keep {
        /// Which option, to what.
        option: OptionChange,
        /// All settings of the agent as they are then.
        config: RawJson,
        /// The answer to the request, in the agent's version.
        answer: RawJson,
    },
    /// The agent answers in its own time; then [`Backend::option_answered`] follows.
    Ask(BackendFuture<'static, Result<RawJson, Error>>),
}

/// Something that runs within a turn and that a client may end by itself. The turn goes on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CancellableWork {
    /// The tool call of this id.
    ToolCall(String),
    /// The command in the terminal of this id.
    Terminal(String),
}

/// An option of the agent and the value it gets.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OptionChange {
    /// The id of the option.
    pub config_id: String,
    /// Its value.
    pub value: RawJson,
}

/// The agent of one session.
///
/// Nothing here waits but [`next`](Self::next) and [`end`](Self::end).
pub trait Backend: Send {
    /// What it does next; `None` once it has ended. Safe to drop and call again.
    fn next(&mut self) -> BackendFuture<'_, Option<BackendEvent>>;

    /// What it has done already.
    fn try_next(&mut self) -> Option<BackendEvent>;

    /// Begins a turn for a client. To be called between turns. Commands of an agent that runs them itself see the client's
    /// environment.
    fn prompt(&mut self, messages: Vec<UserMessage>, client: ClientContext);

    /// Gives steers to an agent whose [`steer_method`](Self::steer_method) is [`SteerMethod::Take`].
    fn steer(&mut self, messages: Vec<UserMessage>);

    /// Lets an agent go on that stands at a break-point. With messages the turn goes on.
    fn go_on(&mut self, messages: Vec<UserMessage>);

    /// Cuts the stream off that runs, so that a break-point follows.
    fn interrupt(&mut self);

    /// Ends the turn; [`BackendEvent::TurnEnded`] follows. Between turns it does nothing.
    fn cancel(&mut self);

    /// Ends a part of what runs; its end is told by an update. An error if nothing of the kind runs, or it cannot be ended.
    fn cancel_work(&mut self, work: &CancellableWork) -> Result<(), Error> {
        Err(not_cancellable(work))
    }

    /// Answers a question. One that is not open any more needs no answer.
    fn answer(&mut self, question: QuestionId, answer: QuestionAnswer);

    /// Has the agent answer a question for a file or a terminal itself, because no client does. Commands see this
    /// environment. To be called only if it has no [tools of its own](Self::has_own_tools).
    fn serve(&mut self, question: AgentQuestion, environment: Option<Environment>);

    /// Prepares a request that sets a mode or an option, in the agent's version. `origin` is the client's own.
    fn plan_option(&mut self, call: &MethodCall, origin: Option<RequestOrigin>) -> Result<OptionPlan, Error>;

    /// Sets an option that is kept. It is reported by [`BackendEvent::Config`] and a `config_option_update`.
    fn set_option(&mut self, option: &OptionChange);

    /// Forgets the options that were to be set.
    fn forget_options(&mut self);

    /// Notes what a request that sets something was answered by the agent.
    fn option_answered(&mut self, call: &MethodCall, answer: &RawJson);

    /// What a steer does to a stream.
    fn steer_method(&self) -> SteerMethod;

    /// The version the agent speaks.
    fn version(&self) -> Version;

    /// The result of the request that brought the session into use, as it would be now, in the agent's version. `id` names
    /// the session in it; `meta` is what the session adds.
    fn opened(&self, id: Option<&str>, meta: &RawJson) -> RawJson;

    /// Updates that tell a client that joins how things stand.
    fn standing(&self) -> Vec<IndexedUpdate>;

    /// Whether prompts and injects may have this kind of content.
    fn takes(&self, content: &str) -> bool;

    /// Whether sessions are named after their first message.
    fn wants_title(&self) -> bool;

    /// Whether it reads and writes files and runs commands itself where no client offers that.
    fn has_own_tools(&self) -> bool;

    /// Which ways of asking the user it was told of: forms, pages. What it asks in these waits until a client is there that
    /// shows it.
    fn elicitation_modes(&self) -> ElicitationModes;

    /// Ends it with everything it has started.
    fn end(&mut self, parting: BackendParting) -> BackendFuture<'_, ()>;
}

/// An agent to which clients may say what only it understands. `M` is a message as connections hand it over, which nobody
/// looks into on the way.
pub trait PassThrough<M>: Backend {
    /// Passes a message on, in order with others of its kind; gives it back if the agent understands nothing else.
    fn pass(&mut self, message: M) -> Result<(), M>;
}

/// Why a part of what runs is not ended by itself.
pub fn not_cancellable(work: &CancellableWork) -> Error {
    let what = match work {
        CancellableWork::ToolCall(_) => "no tool call of this id runs that can be cancelled",
        CancellableWork::Terminal(_) => "no command runs in a terminal of this id that can be cancelled",
    };
    Error::invalid_params(format!("Invalid params: {what}")).reason("not_cancellable")
}
