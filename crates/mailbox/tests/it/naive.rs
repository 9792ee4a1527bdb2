//! Random calls: the mailbox and a plain list of messages say the same, whatever is called in whatever order.

use nudge_mailbox::{
    ClientId, DeliveryMode, InputDialect, Mailbox, MailboxMessage, MailboxRefusal, MessageFate, MessageId,
    RevokedMessage, SavedMailbox,
};
use proptest::{collection::vec, prelude::*, sample::select};

/// How many ids there are; a few messages of a run share one.
const IDS: u8 = 12;
/// Run by default; `PROPTEST_CASES` asks for more.
const CASES: u32 = 3_000;

type Taken = Vec<MailboxMessage<u8>>;

/// Every message that was ever accepted, in that order, and what became of it.
#[derive(Debug, Clone, Default)]
struct Naive(Vec<(MailboxMessage<u8>, MessageFate)>);

impl Naive {
    fn accept(
        &mut self,
        message: &MailboxMessage<u8>,
        a_turn_runs: bool,
    ) -> Result<(MessageId, bool), MailboxRefusal> {
        let has_key = |old: &MailboxMessage<u8>| old.key.is_some() && old.key == message.key;
        let is_heard = |old: &MailboxMessage<u8>, fate| !(is_prompt(old) && fate == MessageFate::Revoked);
        let by_key = self.0.iter().find(|(old, fate)| has_key(old) && is_heard(old, *fate));
        let same = by_key.or_else(|| self.0.iter().find(|(old, _)| old.id == message.id));
        if let Some((old, _)) = same {
            return Ok((old.id.clone(), false));
        }
        if !a_turn_runs && message.mode == DeliveryMode::Steer && message.dialect == InputDialect::Inject {
            return Err(MailboxRefusal::NoRunningTurn);
        }
        self.0.push((message.clone(), MessageFate::Pending));
        Ok((message.id.clone(), true))
    }

    /// Gives those that wait and are meant the fate, and tells which these are: steers first.
    fn become_of(&mut self, fate: MessageFate, is_meant: impl Fn(&MailboxMessage<u8>) -> bool) -> Taken {
        let mut taken = Vec::new();
        for (message, now) in &mut self.0 {
            if *now == MessageFate::Pending && is_meant(message) {
                *now = fate;
                taken.push(message.clone());
            }
        }
        taken.sort_by_key(|message| message.mode == DeliveryMode::Queue);
        taken
    }

    fn pending(&self) -> Taken {
        self.clone().become_of(MessageFate::Delivered, |_| true)
    }

    fn take_for_turn(&mut self) -> Taken {
        let Some(first) = self.pending().into_iter().next() else { return Vec::new() };
        let is_steer = first.mode == DeliveryMode::Steer;
        self.become_of(MessageFate::Delivered, |message| {
            if is_steer { message.mode == DeliveryMode::Steer } else { message.id == first.id }
        })
    }

    fn fate(&self, id: &str) -> Option<MessageFate> {
        self.0.iter().find(|(message, _)| &*message.id == id).map(|(_, fate)| *fate)
    }

    fn revoke(&mut self, id: &str) -> Result<Option<MailboxMessage<u8>>, MailboxRefusal> {
        match self.fate(id) {
            None => Err(MailboxRefusal::UnknownMessage),
            Some(MessageFate::Delivered) => Err(MailboxRefusal::AlreadyDelivered),
            Some(_) => Ok(self.become_of(MessageFate::Revoked, |message| &*message.id == id).pop()),
        }
    }

    fn forget(&mut self, id: &str) {
        let fate = self.fate(id);
        self.0.retain(|(message, _)| fate != Some(MessageFate::Pending) || &*message.id != id);
        for (message, _) in self.0.iter_mut().filter(|(message, _)| &*message.id == id) {
            message.key = None;
        }
    }

    fn replace(&mut self, id: &str, content: u8) -> Result<(), MailboxRefusal> {
        let Some((message, fate)) = self.0.iter_mut().find(|(message, _)| &*message.id == id) else {
            return Err(MailboxRefusal::UnknownMessage);
        };
        match fate {
            MessageFate::Revoked => Err(MailboxRefusal::UnknownMessage),
            MessageFate::Delivered => Err(MailboxRefusal::AlreadyDelivered),
            MessageFate::Pending => {
                message.content = content;
                Ok(())
            }
        }
    }

    fn restart(&mut self) {
        self.become_of(MessageFate::Revoked, |message| message.dialect == InputDialect::PromptV2);
    }
}

fn is_prompt(message: &MailboxMessage<u8>) -> bool {
    matches!(message.dialect, InputDialect::PromptV1 | InputDialect::PromptV2)
}

#[derive(Debug, Clone)]
enum Call {
    Accept { message: MailboxMessage<u8>, a_turn_runs: bool },
    Revoke(u8),
    Forget(u8),
    Replace(u8, u8),
    DropPrompts,
    TakeForTurn,
    TakeSteers,
    Commit,
    Restart,
}

fn id(number: u8) -> MessageId {
    format!("message {number}").into()
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        8 => accept(),
        2 => (0..IDS).prop_map(Call::Revoke),
        1 => (0..IDS).prop_map(Call::Forget),
        2 => (0..IDS, 1..9u8).prop_map(|(number, content)| Call::Replace(number, content)),
        1 => Just(Call::DropPrompts),
        3 => Just(Call::TakeForTurn),
        2 => Just(Call::TakeSteers),
        3 => Just(Call::Commit),
        1 => Just(Call::Restart),
    ]
}

fn accept() -> impl Strategy<Value = Call> {
    let modes = select(vec![DeliveryMode::Queue, DeliveryMode::Steer]);
    let dialects = select(vec![
        InputDialect::Inject,
        InputDialect::Steering,
        InputDialect::PromptV1,
        InputDialect::PromptV2,
    ]);
    let keys = select(vec![None, None, None, Some("k"), Some("l")]);
    let parts = (0..IDS, 1..3u64, modes, dialects, keys, any::<bool>());
    parts.prop_map(|(number, client, mode, dialect, key, a_turn_runs)| {
        let (id, client, key) = (id(number), ClientId(client), key.map(Into::into));
        Call::Accept { message: MailboxMessage { id, client, mode, dialect, content: 0, key }, a_turn_runs }
    })
}

/// Both, side by side, and what is committed of each.
#[derive(Default)]
struct Pair {
    mailbox: Mailbox<u8>,
    naive: Naive,
    saved: SavedMailbox<u8>,
    committed: Naive,
}

impl Pair {
    fn call(&mut self, call: Call) -> Result<(), TestCaseError> {
        let Self { mailbox, naive, .. } = self;
        match call {
            Call::Accept { message, a_turn_runs } => {
                let expected = naive.accept(&message, a_turn_runs);
                let accepted = mailbox.accept(message, a_turn_runs);
                prop_assert_eq!(accepted.map(|accepted| (accepted.id, accepted.fresh)), expected);
            }
            Call::Revoke(number) => {
                let revoked = mailbox.revoke(&id(number)).map(|revoked| match revoked {
                    RevokedMessage::Now(message) => Some(message),
                    RevokedMessage::Already => None,
                });
                prop_assert_eq!(revoked, naive.revoke(&id(number)));
            }
            Call::Forget(number) => {
                mailbox.forget(&id(number));
                naive.forget(&id(number));
            }
            Call::Replace(number, content) => {
                let replaced = mailbox.replace(&id(number), content);
                prop_assert_eq!(replaced, naive.replace(&id(number), content));
            }
            Call::DropPrompts => {
                prop_assert_eq!(mailbox.drop_prompts(), naive.become_of(MessageFate::Revoked, is_prompt));
            }
            Call::TakeForTurn => prop_assert_eq!(mailbox.take_for_turn(), naive.take_for_turn()),
            Call::TakeSteers => {
                let steers =
                    naive.become_of(MessageFate::Delivered, |message| message.mode == DeliveryMode::Steer);
                prop_assert_eq!(mailbox.take_steers(), steers);
            }
            Call::Commit => self.commit()?,
            Call::Restart => self.restart(),
        }
        Ok(())
    }

    /// What is written down adds up to what waits.
    fn commit(&mut self) -> Result<(), TestCaseError> {
        self.mailbox.take_changes().into_iter().for_each(|change| self.saved.apply(change));
        self.committed = self.naive.clone();
        let (mut waiting, pending) = (self.saved.pending.clone(), self.naive.pending());
        waiting.sort_by_key(|message| message.mode == DeliveryMode::Queue);
        prop_assert_eq!(waiting, pending);
        Ok(())
    }

    fn restart(&mut self) {
        self.mailbox = Mailbox::restore(self.saved.clone());
        self.naive = self.committed.clone();
        self.naive.restart();
    }

    /// Whatever can be asked is answered alike.
    fn compare(&self) -> Result<(), TestCaseError> {
        let pending = self.naive.pending();
        let has_steers = pending.iter().any(|message| message.mode == DeliveryMode::Steer);
        prop_assert_eq!(self.mailbox.has_steers(), has_steers);
        prop_assert_eq!(self.mailbox.pending().cloned().collect::<Vec<_>>(), pending);
        for id in (0..IDS).map(id) {
            prop_assert_eq!(self.mailbox.fate(&id), self.naive.fate(&id));
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases.max(CASES),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_mailbox_does_what_a_list_would(calls in vec(call(), 1..50)) {
        let mut pair = Pair::default();
        for call in calls {
            pair.call(call)?;
            pair.compare()?;
        }
    }
}
