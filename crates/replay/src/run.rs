//! Chooses commits, does them again on all cores, and sums up.

use std::{path::PathBuf, sync::Arc};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use nudge_nes::{LocalEngine, NesEngine};

use crate::{
    ReplayError,
    ask::DumpDetail,
    case::ReplayCase,
    draft::FileDraft,
    dump::QuestionDump,
    history::{CommitHistory, HistoryReader},
    naive::NaiveEngine,
    quiet, recording,
    recording::RecordingsScore,
    report::{LevelRun, ReplayReport},
    session::ReplaySession,
    spread::spread,
    tally::ReplayedCommit,
    typed,
    walk::{CommitWalk, ReplayLog},
    watched::WatchedEngine,
};

/// What is replayed, and how.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line by itself")]
pub struct ReplayOptions {
    /// Repositories: work trees or bare.
    pub git: Vec<PathBuf>,
    /// Folders with recordings.
    pub recordings: Vec<PathBuf>,
    /// How many commits of each repository at most.
    pub limit: usize,
    /// What the choice of commits comes from.
    pub seed: u64,
    /// How many threads.
    pub jobs: usize,
    /// Who makes the suggestions.
    pub engine: ScoredEngine,
    /// The levels of eagerness, one run each.
    pub eagerness: Vec<EagernessLevel>,
    /// Whether lines that became others one by one are also done one by one, and asked after each.
    pub by_line: bool,
    /// Whether hunks are also typed key by key.
    pub typed: bool,
    /// Whether it is also asked where nothing is to be done.
    pub quiet: bool,
    /// Where every question is written to, as JSON lines.
    pub dump: Option<PathBuf>,
    /// Whether progress is shown on standard error.
    pub progress: bool,
}

/// The engines that can be scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScoredEngine {
    /// The one that users get.
    Local,
    /// The yardstick: repeats the last replacement of words.
    Naive,
}

impl ScoredEngine {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Naive => "naive",
        }
    }

    fn engine(self) -> Arc<dyn NesEngine> {
        match self {
            Self::Local => Arc::new(LocalEngine),
            Self::Naive => Arc::new(NaiveEngine),
        }
    }
}

/// How sure a suggestion must be to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EagernessLevel {
    /// Nearly certain.
    Low,
    /// Right more often than not.
    Medium,
    /// Possibly right.
    High,
}

impl EagernessLevel {
    /// All of them, the quietest first.
    pub const ALL: [Self; 3] = [Self::Low, Self::Medium, Self::High];

    /// Its name in the session's settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// Replays everything that was asked for.
pub fn run(options: &ReplayOptions) -> Result<ReplayReport, ReplayError> {
    let engine = options.engine.engine();
    let histories: Vec<CommitHistory> =
        options.git.iter().map(|path| CommitHistory::open(path, options.seed)).collect::<Result<_, _>>()?;
    let mut dump = options.dump.as_deref().map(QuestionDump::create).transpose()?;
    let commits = replay_all(options, &engine, &histories, dump.as_mut())?;
    let mut folders = Vec::new();
    for folder in &options.recordings {
        folders.extend(recording::find(folder)?);
    }
    let mut runs = Vec::new();
    for (at, level) in options.eagerness.iter().enumerate() {
        let repositories: Vec<(Arc<str>, Vec<&ReplayedCommit>)> = histories
            .iter()
            .zip(&commits)
            .map(|(history, commits)| {
                (history.name().clone(), commits.iter().map(|levels| &levels[at]).collect())
            })
            .collect();
        let mut run = LevelRun::new(level.name(), &repositories);
        if !folders.is_empty() {
            let recorded = folders
                .iter()
                .map(|folder| recording::run(folder, &mut ReplaySession::start(&engine, *level)?));
            run.recordings = Some(RecordingsScore::new(recorded.collect::<Result<_, _>>()?));
        }
        runs.push(run);
    }
    if let Some(dump) = dump {
        dump.finish()?;
    }
    Ok(ReplayReport { engine: options.engine.name().to_owned(), seed: options.seed, runs })
}

/// What came of one commit at each level.
type Levels = Vec<ReplayedCommit>;

/// The commits of each repository, in the order of chance: the first ones that can be replayed, up to the limit.
fn replay_all(
    options: &ReplayOptions,
    engine: &Arc<dyn NesEngine>,
    histories: &[CommitHistory],
    mut dump: Option<&mut QuestionDump>,
) -> Result<Vec<Vec<Levels>>, ReplayError> {
    let wanted = |history: &CommitHistory| options.limit.min(history.len());
    let bar = progress(options.progress, histories.iter().map(wanted).sum());
    let mut done: Vec<Vec<Levels>> = histories.iter().map(|_| Vec::new()).collect();
    let mut tried = vec![0; histories.len()];
    // In each round no more commits are tried than are still wanted, so that none is replayed for nothing and the
    // choice does not depend on the number of threads.
    loop {
        let mut round = Vec::new();
        for (at, history) in histories.iter().enumerate() {
            let missing = options.limit.saturating_sub(done[at].len()).min(history.len() - tried[at]);
            round.extend((tried[at]..tried[at] + missing).map(|turn| (at, turn)));
            tried[at] += missing;
        }
        if round.is_empty() {
            break;
        }
        let readers = || histories.iter().map(|_| HistoryReader::new()).collect::<Vec<_>>();
        let results = spread(&round, options.jobs, readers, |readers, (at, turn)| {
            let case = histories[*at].case(&readers[*at], *turn, options.seed);
            let replayed = case.map(|case| replay(options, engine, &case)).transpose();
            if matches!(replayed, Ok(Some(_))) {
                bar.inc(1);
            }
            replayed
        });
        for ((at, _), result) in round.iter().zip(results) {
            let Some((levels, details)) = result? else { continue };
            if let Some(dump) = &mut dump {
                dump.write(&details)?;
            }
            done[*at].push(levels);
        }
    }
    bar.finish_and_clear();
    Ok(done)
}

/// Does one commit again, at each level.
fn replay(
    options: &ReplayOptions,
    engine: &Arc<dyn NesEngine>,
    case: &ReplayCase,
) -> Result<(Levels, Vec<DumpDetail>), ReplayError> {
    let drafts: Vec<FileDraft> = case.files.iter().map(FileDraft::new).collect();
    let (mut levels, mut details) = (Vec::new(), Vec::new());
    for level in &options.eagerness {
        let is_dumped = options.dump.is_some();
        let watched =
            (is_dumped && options.engine == ScoredEngine::Local).then(|| Arc::new(WatchedEngine::default()));
        let engine: &Arc<dyn NesEngine> = &match &watched {
            Some(watched) => Arc::clone(watched) as Arc<dyn NesEngine>,
            None => Arc::clone(engine),
        };
        let log = || ReplayLog {
            wanted: is_dumped,
            eagerness: level.name(),
            watched: watched.clone(),
            ..ReplayLog::default()
        };
        let mut session = ReplaySession::start(engine, *level)?;
        let mut walk = CommitWalk::begin(case, &mut session, log())?;
        walk.by_line = options.by_line;
        let asks = walk.run()?;
        details.append(&mut walk.log.details);
        let hunks = drafts.iter().map(|draft| (draft.language, draft.places()));
        let mut replayed = ReplayedCommit::new(hunks, &asks);
        // Each in a session of its own, so that nothing in the scores depends on what else was wanted.
        if options.typed {
            let mut session = ReplaySession::start(engine, *level)?;
            let mut walk = CommitWalk::begin(case, &mut session, log())?;
            replayed.add_typed(typed::run(&mut walk)?);
            details.append(&mut walk.log.details);
        }
        if options.quiet {
            let mut session = ReplaySession::start(engine, *level)?;
            let mut walk = CommitWalk::begin(case, &mut session, log())?;
            replayed.quiet = Some(quiet::run(&mut walk, options.seed)?);
            details.append(&mut walk.log.details);
        }
        levels.push(replayed);
    }
    Ok((levels, details))
}

fn progress(visible: bool, commits: usize) -> ProgressBar {
    if !visible {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} commits, {elapsed} (about {eta} left)")
        .expect("the template is well-formed");
    ProgressBar::with_draw_target(Some(commits as u64), ProgressDrawTarget::stderr()).with_style(style)
}
