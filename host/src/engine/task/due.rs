//! Deadlines: of an attempt, of a lock, of a heartbeat, of a timer.

use std::sync::Arc;

use super::change;
use crate::domain::task::Task;
use crate::domain::timer::Timer;
use crate::engine::mailbox::Taken;
use crate::engine::signal::Signal;
use crate::engine::{Engine, Error};

/// Conflicts in a row before a timer is left to its lease.
const TIMER_ATTEMPTS_MAX: u32 = 5;

impl Engine {
    /// A task's deadline may have passed. The rule looks at the row as it is now, not as it was claimed.
    pub async fn task_due(self: &Arc<Self>, task: Task) -> Result<(), Error> {
        let rule = |task: &Task, now| Ok(change::due(task, now));
        match self.change_task(&task.tenant, task.id, None, rule).await {
            Ok(_) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// A timer is due. A timer that was withdrawn or moved in between is left alone.
    pub async fn timer_due(self: &Arc<Self>, timer: Timer) -> Result<(), Error> {
        for _ in 0..TIMER_ATTEMPTS_MAX {
            let signal = Signal::TimerDue(Box::new(timer.clone()));
            match self.send(&timer.tenant, timer.workflow_instance_id, signal).await {
                // The instance moved on meanwhile, or another host fired the timer: only trying again tells.
                Ok(Taken::Stale) => {}
                Ok(_) | Err(Error::NotFound { .. }) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
