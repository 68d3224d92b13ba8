//! Names of things: each kind of id is a type of its own, so that none can stand in for another.

use std::cell::Cell;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::Digest as _;
use uuid::Uuid;

thread_local! {
    /// Set where ids must be the same again when a run is repeated.
    static NUMBERED: Cell<Option<u64>> = const { Cell::new(None) };
}

/// A new id, sorted by time of creation (UUID v7).
pub fn fresh() -> Uuid {
    match NUMBERED.get() {
        None => Uuid::now_v7(),
        Some(last) => {
            NUMBERED.set(Some(last + 1));
            Uuid::from_u64_pair(last + 1, last + 1)
        }
    }
}

/// The id right after one: nothing else is ever between the two.
pub fn successor(id: Uuid) -> Uuid {
    Uuid::from_u128(id.as_u128().wrapping_add(1))
}

/// Whether runs of this thread must be the same again when they are repeated: then nothing is left to chance.
pub fn repeatable() -> bool {
    NUMBERED.get().is_some()
}

/// From now on, ids made on this thread are 1, 2, 3 and so on: for simulations that must be repeatable.
pub fn number_ids_on_this_thread() {
    NUMBERED.set(Some(0));
}

macro_rules! uuid_id {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// A new id, sorted by time of creation (UUID v7).
            pub fn new() -> Self {
                Self(fresh())
            }
        }

        impl From<$name> for Uuid {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    )+};
}

uuid_id! {
    /// An instance of a workflow.
    InstanceId,
    /// One attempt at a step of an instance.
    StepExecutionId,
    /// An external task.
    TaskId,
    /// A timer.
    TimerId,
    /// A schedule: a cron trigger of a deployed workflow.
    ScheduleId,
    /// A subscription to messages.
    SubscriptionId,
    /// An event in the inbox.
    EventId,
    /// An incident.
    IncidentId,
    /// An API token (its public name, not its secret).
    TokenId,
    /// What proves that a worker holds a task now, and not before.
    LockToken,
}

/// A tenant's name: 1 to 63 of `a-z`, `0-9`, `-`, `_`, beginning with a letter or digit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TenantId(std::sync::Arc<str>);

impl TenantId {
    /// The tenant that requests belong to where nothing else is said.
    pub const DEFAULT: &str = "default";

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for TenantId {
    fn default() -> Self {
        Self(Self::DEFAULT.into())
    }
}

impl fmt::Display for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for TenantId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let valid = (1..=63).contains(&text.len())
            && text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
            && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c));
        if valid {
            Ok(Self(text.into()))
        } else {
            Err("a tenant's name is 1 to 63 of a-z, 0-9, '-' and '_', beginning with a letter or digit"
                .into())
        }
    }
}

impl TryFrom<String> for TenantId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<TenantId> for String {
    fn from(tenant: TenantId) -> Self {
        tenant.0.to_string()
    }
}

/// The SHA-256 of some bytes, in hex: names a component, a definition, or a part of the journal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Digest(pub std::sync::Arc<str>);

impl Digest {
    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(hex(&sha2::Sha256::digest(bytes)).into())
    }

    /// The first twelve digits, for people.
    pub fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
