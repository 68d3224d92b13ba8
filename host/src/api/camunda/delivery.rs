//! Tasks that were locked for a request, on their way to its client: if that goes away, they are offered again.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::error::CamundaError;
use crate::api::AppState;
use crate::api::error::Problem;
use crate::dispatch::desk::Desk;
use crate::domain::task::Task;
use crate::engine::Error;

/// Tasks that are given back unless somebody takes them.
pub(super) struct Delivery {
    desk: Arc<Desk>,
    tasks: Vec<Task>,
}

impl Delivery {
    /// Tasks that are locked.
    pub(super) fn of(state: &AppState, tasks: Vec<Task>) -> Self {
        Self { desk: Arc::clone(&state.node.desk), tasks }
    }

    /// Locks tasks in a task of its own: half-way, a client that goes away would leave them locked.
    pub(super) async fn lock(
        state: &AppState,
        work: impl Future<Output = Result<Vec<Task>, Error>> + Send + 'static,
    ) -> Result<Self, CamundaError> {
        let (sender, receiver) = oneshot::channel();
        let desk = Arc::clone(&state.node.desk);
        tokio::spawn(async move {
            let locked = work.await.map(|tasks| Self { desk, tasks });
            // Nobody is there to take them: they are given back as this is dropped.
            let _ = sender.send(locked);
        });
        match receiver.await {
            Ok(locked) => Ok(locked?),
            Err(_) => Err(Problem::internal().into()),
        }
    }

    pub(super) fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    pub(super) fn add(&mut self, mut more: Self) {
        self.tasks.append(&mut more.tasks);
    }

    /// By priority, then age.
    pub(super) fn sort(&mut self) {
        self.tasks.sort_by_key(|task| (task.priority, task.created_at, task.id));
    }

    /// Whoever takes them answers for them.
    pub(super) fn take(mut self) -> Vec<Task> {
        std::mem::take(&mut self.tasks)
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        self.desk.give_back(std::mem::take(&mut self.tasks));
    }
}
