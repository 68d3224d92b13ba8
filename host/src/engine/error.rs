//! Why the engine did not do what it was asked.

use super::port::StoreError;

/// Each case has a stable code; `api` maps it to a status in one file.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// There is no such thing, or not for this tenant.
    #[error("{message}")]
    NotFound {
        /// Such as `task_not_found`.
        code: &'static str,
        /// For people.
        message: String,
    },
    /// The thing is not in a state for it: the holder lost its lock, the instance has ended.
    #[error("{message}")]
    Conflict {
        /// Such as `lock_lost`.
        code: &'static str,
        /// For people.
        message: String,
    },
    /// The request makes no sense as it is written.
    #[error("{message}")]
    Invalid {
        /// Such as `definition_invalid`.
        code: &'static str,
        /// For people.
        message: String,
        /// Each mistake, where there can be many.
        details: Vec<Mistake>,
    },
    /// The request is well-formed and cannot be carried out.
    #[error("{message}")]
    Unprocessable {
        /// Such as `template_path_missing`.
        code: &'static str,
        /// For people.
        message: String,
    },
    /// Over a limit.
    #[error("{message}")]
    TooLarge {
        /// Such as `context_too_large`.
        code: &'static str,
        /// For people.
        message: String,
    },
    /// Too much at once; try again.
    #[error("{message}")]
    Busy {
        /// Such as `instance_busy`.
        code: &'static str,
        /// For people.
        message: String,
    },
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// One mistake in a document.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Mistake {
    /// The line, from 1, where it is known.
    pub line: Option<usize>,
    /// The column, from 1, where it is known.
    pub column: Option<usize>,
    /// The field, as `steps[2].config.taskType`.
    pub field: String,
    /// What is wrong and what to do.
    pub message: String,
}

impl Error {
    /// There is no such thing.
    pub fn not_found(code: &'static str, message: impl Into<String>) -> Self {
        Self::NotFound { code, message: message.into() }
    }

    /// Not in a state for it.
    pub fn conflict(code: &'static str, message: impl Into<String>) -> Self {
        Self::Conflict { code, message: message.into() }
    }

    /// Makes no sense.
    pub fn invalid(code: &'static str, message: impl Into<String>) -> Self {
        Self::Invalid { code, message: message.into(), details: Vec::new() }
    }

    /// Cannot be carried out.
    pub fn unprocessable(code: &'static str, message: impl Into<String>) -> Self {
        Self::Unprocessable { code, message: message.into() }
    }

    /// Over a limit.
    pub fn too_large(code: &'static str, message: impl Into<String>) -> Self {
        Self::TooLarge { code, message: message.into() }
    }
}
