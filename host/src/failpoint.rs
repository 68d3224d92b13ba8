//! Places where a host can be made to die, to show that nothing is lost there. Only in the binary for tests.
//!
//! `STEPWELL_FAILPOINT=commit-written:7` ends the process when that place is passed for the seventh time, with no
//! destructor, no flush and no good-bye. Without the feature `failpoints` a place is nothing at all.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The variable that names the place, and how often it is passed before it is the last time.
pub const VARIABLE: &str = "STEPWELL_FAILPOINT";

/// A boundary between two things that a crash may part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// A batch is decided; the database knows nothing of it.
    CommitDecided,
    /// In the transaction: guards are checked, nothing is written.
    CommitGuarded,
    /// In the transaction: a statement has run, there may be more.
    CommitStatement,
    /// In the transaction: everything is written, COMMIT is not sent.
    CommitWritten,
    /// COMMIT was answered; other hosts do not know.
    CommitDone,
    /// Committed; nobody on this host knows.
    CommitUnannounced,
    /// Committed and announced; whoever asked for it does not know.
    CommitUnanswered,
    /// Tasks are locked for polls that have no answer yet.
    TasksLocked,
    /// A lock is extended, and the heartbeat not answered.
    LockExtended,
    /// Tasks whose deadline passed are claimed, and nothing was done about it.
    DeadlinesClaimed,
    /// Timers are claimed, and none has fired.
    TimersClaimed,
    /// Outgoing items are claimed, and none was sent.
    OutboxClaimed,
    /// An outgoing item was sent, and is still in the outbox.
    OutboxSent,
}

impl Point {
    /// Every place.
    pub const ALL: [Self; 13] = [
        Self::CommitDecided,
        Self::CommitGuarded,
        Self::CommitStatement,
        Self::CommitWritten,
        Self::CommitDone,
        Self::CommitUnannounced,
        Self::CommitUnanswered,
        Self::TasksLocked,
        Self::LockExtended,
        Self::DeadlinesClaimed,
        Self::TimersClaimed,
        Self::OutboxClaimed,
        Self::OutboxSent,
    ];

    /// Its name in the variable.
    pub fn label(self) -> &'static str {
        match self {
            Self::CommitDecided => "commit-decided",
            Self::CommitGuarded => "commit-guarded",
            Self::CommitStatement => "commit-statement",
            Self::CommitWritten => "commit-written",
            Self::CommitDone => "commit-done",
            Self::CommitUnannounced => "commit-unannounced",
            Self::CommitUnanswered => "commit-unanswered",
            Self::TasksLocked => "tasks-locked",
            Self::LockExtended => "lock-extended",
            Self::DeadlinesClaimed => "deadlines-claimed",
            Self::TimersClaimed => "timers-claimed",
            Self::OutboxClaimed => "outbox-claimed",
            Self::OutboxSent => "outbox-sent",
        }
    }
}

/// Passes a place, or dies at it.
#[inline]
pub fn pass(point: Point) {
    if cfg!(feature = "failpoints") {
        pass_or_die(point);
    }
}

struct Armed {
    label: String,
    passes_left: AtomicU64,
}

fn pass_or_die(point: Point) {
    static ARMED: OnceLock<Option<Armed>> = OnceLock::new();
    let armed = ARMED.get_or_init(|| std::env::var(VARIABLE).ok().map(|text| arm(&text)));
    if let Some(armed) = armed.as_ref().filter(|armed| armed.label == point.label())
        && armed.passes_left.fetch_sub(1, Ordering::SeqCst) == 1
    {
        // At once and for all threads, as SIGKILL from outside would, but not a moment later.
        std::process::abort();
    }
}

fn arm(text: &str) -> Armed {
    let (label, nth) = text.split_once(':').unwrap_or((text, "1"));
    Armed { label: label.to_owned(), passes_left: AtomicU64::new(nth.parse().unwrap_or(1)) }
}
