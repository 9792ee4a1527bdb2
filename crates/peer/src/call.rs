//! A request of the other side while it is being handled: answered exactly once, whatever happens.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicU8, AtomicUsize, Ordering},
    },
};

use atomic_waker::AtomicWaker;
use nudge_wire::{Error, Id, Message, RawJson, write};
use parking_lot::{Mutex, MutexGuard};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::{
    ConnectionClosed, Cx, ForwardedRequest,
    outbound::FrameKind,
    router::HandlerFuture,
    shared::{ByteCharge, ConnectionShared},
    version::is_initialize,
};

const ANSWERED: u8 = 1;
const CANCELLED: u8 = 2;
/// The handler took its cancellation token and decides itself how to answer a cancelled request.
const COOPERATIVE: u8 = 4;
/// The answer is out without the handler, which is to be dropped where it stands.
const ABORTED: u8 = 8;

/// The state of one request, shared by the reader, the handler and the responder.
pub(crate) struct CallState {
    pub(crate) id: Id,
    flags: AtomicU8,
    /// Wakes the task of a handler that runs beside the queue.
    pub(crate) waker: AtomicWaker,
    token: OnceLock<CancellationToken>,
    /// Where the request was passed on to, and under which id.
    forwarded: OnceLock<(Weak<ConnectionShared>, u64)>,
    batch: Option<Arc<ResponseBatch>>,
    /// Whether its answer says the version of the connection.
    pub(crate) is_initialize: bool,
    /// What begins when the request is answered.
    after: Mutex<Vec<HandlerFuture>>,
}

/// The answers to one batch, sent together when the last is there.
pub(crate) struct ResponseBatch {
    missing: AtomicUsize,
    /// What is there so far, and what it counts for.
    answers: Mutex<(Vec<Vec<u8>>, Vec<ByteCharge>)>,
}

impl ResponseBatch {
    pub(crate) fn new(expected: usize) -> Arc<Self> {
        Arc::new(Self { missing: AtomicUsize::new(expected), answers: Mutex::default() })
    }

    /// Takes one answer; gives the frame of all if it was the last.
    pub(crate) fn add(&self, answer: Vec<u8>, shared: &Arc<ConnectionShared>) -> Option<Vec<u8>> {
        let mut answers = self.answers.lock();
        answers.1.push(shared.charge(answer.len()));
        answers.0.push(answer);
        let is_last = self.missing.fetch_sub(1, Ordering::AcqRel) == 1;
        is_last.then(|| {
            answers.1.clear();
            write::batch(&std::mem::take(&mut answers.0))
        })
    }
}

impl CallState {
    fn new(id: Id, batch: Option<Arc<ResponseBatch>>, is_initialize: bool) -> Self {
        Self {
            id,
            flags: AtomicU8::new(0),
            waker: AtomicWaker::new(),
            token: OnceLock::new(),
            forwarded: OnceLock::new(),
            batch,
            is_initialize,
            after: Mutex::default(),
        }
    }

    /// Begins `task` when the request is answered.
    pub(crate) fn after(&self, task: HandlerFuture) {
        self.after.lock().push(task);
    }

    /// What is to begin now that the request is answered.
    fn take_after(&self) -> Vec<HandlerFuture> {
        std::mem::take(&mut *self.after.lock())
    }

    fn has(&self, flag: u8) -> bool {
        self.flags.load(Ordering::Acquire) & flag != 0
    }

    /// Whether the request is answered, so that a handler still running works for nothing.
    pub(crate) fn is_answered(&self) -> bool {
        self.has(ANSWERED)
    }

    /// Whether the handler is to be dropped where it stands.
    pub(crate) fn is_aborted(&self) -> bool {
        self.has(ABORTED)
    }

    /// The right to answer; given once.
    fn claim(&self) -> bool {
        self.flags.fetch_or(ANSWERED, Ordering::AcqRel) & ANSWERED == 0
    }

    /// The handler's token. From now on the handler decides how a cancelled request is answered.
    pub(crate) fn token(&self) -> CancellationToken {
        let token = self.token.get_or_init(CancellationToken::new).clone();
        if self.flags.fetch_or(COOPERATIVE, Ordering::AcqRel) & CANCELLED != 0 {
            token.cancel();
        }
        token
    }
}

/// The requests of the other side that are not answered yet.
#[derive(Default)]
pub(crate) struct UnansweredCalls(Mutex<HashMap<Id, Arc<CallState>>>);

impl UnansweredCalls {
    fn open(&self) -> MutexGuard<'_, HashMap<Id, Arc<CallState>>> {
        // Nothing in this module panics while it holds the lock.
        self.0.lock()
    }

    /// Registers a request, if it may be.
    pub(crate) fn begin(
        &self,
        id: &Id,
        method: &str,
        batch: Option<Arc<ResponseBatch>>,
        limit: usize,
    ) -> Result<Arc<CallState>, Error> {
        let mut open = self.open();
        if open.contains_key(id) {
            let what = "Invalid request: the `id` is in use by a request that is not answered yet";
            return Err(Error::invalid_request(what));
        }
        if open.len() >= limit {
            return Err(Error::internal(format!("Too many requests are open, the limit is {limit}")));
        }
        let call = Arc::new(CallState::new(id.clone(), batch, is_initialize(method)));
        open.insert(id.clone(), Arc::clone(&call));
        Ok(call)
    }

    pub(crate) fn get(&self, id: &Id) -> Option<Arc<CallState>> {
        self.open().get(id).cloned()
    }

    pub(crate) fn all(&self) -> Vec<Arc<CallState>> {
        self.open().values().cloned().collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.open().is_empty()
    }

    /// Gives back memory that is not in use.
    pub(crate) fn shrink(&self) {
        self.open().shrink_to_fit();
    }

    fn end(&self, id: &Id) {
        self.open().remove(id);
    }
}

impl ConnectionShared {
    /// The other side wants `call` cancelled: passed on if the request was, told to a handler that asked for it,
    /// and otherwise answered here and now. Only the first time counts.
    pub(crate) fn cancel(self: &Arc<Self>, call: &CallState) {
        let before = call.flags.fetch_or(CANCELLED, Ordering::AcqRel);
        if before & (CANCELLED | ANSWERED) != 0 {
            return;
        }
        if let Some((target, id)) = call.forwarded.get() {
            cancel_there(target, *id);
        } else if before & COOPERATIVE != 0 {
            if let Some(token) = call.token.get() {
                token.cancel();
            }
        } else if self.answer_now(call, |id| write::error(id, &Error::cancelled())) {
            call.flags.fetch_or(ABORTED, Ordering::AcqRel);
            call.waker.wake();
        }
    }

    /// Answers without waiting for room, if nobody has answered yet. For what is small.
    pub(crate) fn answer_now(self: &Arc<Self>, call: &CallState, frame: impl FnOnce(&Id) -> Vec<u8>) -> bool {
        let won = call.claim();
        if won {
            self.calls.end(&call.id);
            if let Some(frame) = call.wrap(frame(&call.id), self) {
                self.force(frame);
            }
        }
        won
    }
}

fn cancel_there(target: &Weak<ConnectionShared>, id: u64) {
    if let Some(target) = target.upgrade() {
        target.force(write::cancel_request(id));
    }
}

impl CallState {
    /// The frame to send for an answer; `None` while a batch waits for more.
    fn wrap(&self, frame: Vec<u8>, shared: &Arc<ConnectionShared>) -> Option<Vec<u8>> {
        match &self.batch {
            Some(batch) => batch.add(frame, shared),
            None => Some(frame),
        }
    }
}

/// The duty to answer one request. Dropping it unanswered answers with -32603.
pub struct RequestResponder {
    shared: Arc<ConnectionShared>,
    call: Arc<CallState>,
}

impl RequestResponder {
    pub(crate) fn new(shared: Arc<ConnectionShared>, call: Arc<CallState>) -> Self {
        Self { shared, call }
    }

    /// The id of the request.
    pub fn id(&self) -> &Id {
        &self.call.id
    }

    /// The token that tells of a cancellation; whoever takes it decides how a cancelled request is answered.
    pub fn cancellation(&self) -> CancellationToken {
        self.call.token()
    }

    /// Answers with a result or an error.
    pub async fn respond<T: Serialize>(self, outcome: Result<T, Error>) -> Result<(), ConnectionClosed> {
        let frame = self.encode(&outcome);
        self.send(frame, false).await
    }

    /// As `respond`, from a handler that holds up the queue.
    pub(crate) async fn respond_in_order<T: Serialize>(
        self,
        outcome: Result<T, Error>,
    ) -> Result<(), ConnectionClosed> {
        let frame = self.encode(&outcome);
        self.send(frame, true).await
    }

    /// Answers with a result that is JSON text already.
    pub async fn respond_raw(self, result: &RawJson) -> Result<(), ConnectionClosed> {
        let frame = write::raw_response(&self.call.id, Ok(result));
        self.send(frame, false).await
    }

    /// Answers with the response another connection gave, byte for byte but for the id.
    pub(crate) async fn pass_on(self, response: &Message) -> Result<(), ConnectionClosed> {
        let frame = response.frame_with_id(&self.call.id);
        self.send(frame, true).await
    }

    /// Waits for room and only then takes the right to answer, so that whoever gives up waiting leaves the request to
    /// be answered by the drop of `self`.
    async fn send(self, frame: Vec<u8>, in_order: bool) -> Result<(), ConnectionClosed> {
        let room = self.shared.room(FrameKind::Answer, frame.len(), in_order).await?;
        if !self.call.claim() {
            self.shared.outbound.give_back(&room);
            return Ok(());
        }
        self.shared.calls.end(&self.call.id);
        if self.call.is_initialize {
            self.shared.version.answer(&frame);
        }
        match self.call.wrap(frame, &self.shared) {
            Some(frame) => self.shared.queue(frame, Some(room))?,
            None => self.shared.outbound.give_back(&room),
        }
        for task in self.call.take_after() {
            crate::cx::spawn(&self.shared, task);
        }
        Ok(())
    }

    fn encode<T: Serialize>(&self, outcome: &Result<T, Error>) -> Vec<u8> {
        let id = &self.call.id;
        match outcome {
            Ok(result) => write::response(id, result).unwrap_or_else(|_| {
                write::error(id, &Error::internal("The result cannot be written as JSON"))
            }),
            Err(error) => write::error(id, error),
        }
    }

    /// Answers with an error without waiting for room.
    pub(crate) fn fail(self, error: &Error) {
        self.shared.answer_now(&self.call, |id| write::error(id, error));
    }

    /// Whether the request is answered or cancelled already and must not be passed on.
    pub(crate) fn is_done(&self) -> bool {
        self.call.has(ANSWERED | CANCELLED)
    }

    /// The request, passed on under this number.
    pub(crate) fn forwarded_as(&self, number: u64) -> ForwardedRequest {
        let from = Cx::new(Arc::clone(&self.shared), None);
        ForwardedRequest { number, from, id: self.id().clone() }
    }

    /// Where to note that the request has been passed on.
    pub(crate) fn call(&self) -> Arc<CallState> {
        Arc::clone(&self.call)
    }
}

impl CallState {
    /// Notes that the request has been sent on to `target` under `id`. A cancellation that came meanwhile follows it.
    pub(crate) fn forwarded(&self, target: &Arc<ConnectionShared>, id: u64) {
        let target = Arc::downgrade(target);
        let _ = self.forwarded.set((Weak::clone(&target), id));
        if self.has(CANCELLED) {
            cancel_there(&target, id);
        }
    }
}

impl Drop for RequestResponder {
    fn drop(&mut self) {
        self.shared.answer_now(&self.call, |id| {
            let what = if std::thread::panicking() {
                "The handler of this request failed"
            } else {
                "The request was dropped without an answer"
            };
            write::error(id, &Error::internal(what))
        });
    }
}

impl fmt::Debug for RequestResponder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestResponder").field("id", &self.call.id).finish_non_exhaustive()
    }
}
