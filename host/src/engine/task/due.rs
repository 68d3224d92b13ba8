//! Deadlines: of an attempt, of a lock, of a heartbeat, of a timer.

use std::sync::Arc;

use super::change;
use crate::domain::task::Task;
use crate::domain::timer::Timer;
use crate::engine::signal::Signal;
use crate::engine::{Engine, Error};

impl Engine {
    /// A task's deadline may have passed. The rule looks at the row as it is now, not as it was claimed.
    pub async fn task_due(self: &Arc<Self>, task: Task) -> Result<(), Error> {
        let rule = |task: &Task, now| Ok(change::due(task, now));
        match self.change_task(&task.tenant, task.id, "due", rule).await {
            Ok(_) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// A timer is due. A timer that was withdrawn or moved in between is left alone.
    pub async fn timer_due(self: &Arc<Self>, timer: Timer) -> Result<(), Error> {
        let signal = Signal::TimerDue(Box::new(timer.clone()));
        match self.send(&timer.tenant, timer.workflow_instance_id, signal).await {
            // Stale: another host fired it, or its lease will bring it up again.
            Ok(_) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
