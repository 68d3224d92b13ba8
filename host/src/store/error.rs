//! What a database can answer other than rows, sorted by what to do about it.

use crate::engine::port::StoreError;

/// Why a statement was not done.
#[derive(Debug, Clone)]
pub(super) enum Fault {
    /// The data is at fault: the same will fail again, other data may not.
    Data(String),
    /// A deadlock or a lock that was not to be had: the same may succeed now.
    Again(String),
    /// The connection or the server is gone, full or starting.
    Away(String),
    /// A mistake of ours.
    Broken(String),
    /// The answer to COMMIT was lost, and the database did not come back to tell.
    Unknown(String),
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Away(why) | Fault::Again(why) => Self::Unavailable(why),
            Fault::Data(why) | Fault::Broken(why) => Self::Broken(why),
            Fault::Unknown(why) => Self::Unknown(why),
        }
    }
}

impl From<sqlx::Error> for Fault {
    fn from(error: sqlx::Error) -> Self {
        let text = error.to_string();
        match &error {
            sqlx::Error::Database(answer) => {
                let code = answer.code().unwrap_or_default();
                if answer.try_downcast_ref::<sqlx::postgres::PgDatabaseError>().is_some() {
                    of_postgres(&code, text)
                } else {
                    of_sqlite(&code, text)
                }
            }
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed => Self::Away(text),
            _ => Self::Broken(text),
        }
    }
}

/// By the SQLSTATE's class, where a class says enough.
fn of_postgres(code: &str, text: String) -> Fault {
    let text = format!("{text} ({code})");
    match code {
        "40001" | "40P01" | "55P03" => Fault::Again(text),
        // Cancelled, shutting down, crashed, starting up; a standby that was a primary a moment ago; idle for too long.
        "57014" | "57P01" | "57P02" | "57P03" | "57P05" | "25006" | "25P03" => Fault::Away(text),
        _ => match code.get(..2) {
            // 21: the same row twice in one statement; 54: too long for an index.
            Some("21" | "22" | "23" | "54") => Fault::Data(text),
            Some("08" | "53" | "58") => Fault::Away(text),
            _ => Fault::Broken(text),
        },
    }
}

/// By the primary code, which is the low byte of the extended one.
fn of_sqlite(code: &str, text: String) -> Fault {
    match code.parse::<i32>().unwrap_or_default() & 0xff {
        // TOOBIG, CONSTRAINT, MISMATCH
        18..=20 => Fault::Data(text),
        // BUSY, LOCKED
        5 | 6 => Fault::Again(text),
        // NOMEM, READONLY, IOERR, FULL, CANTOPEN
        7 | 8 | 10 | 13 | 14 => Fault::Away(text),
        _ => Fault::Broken(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_tells_what_to_do() {
        assert!(matches!(of_postgres("23505", String::new()), Fault::Data(_)));
        assert!(matches!(of_postgres("22P02", String::new()), Fault::Data(_)));
        assert!(matches!(of_postgres("40P01", String::new()), Fault::Again(_)));
        assert!(matches!(of_postgres("57P01", String::new()), Fault::Away(_)));
        assert!(matches!(of_postgres("53300", String::new()), Fault::Away(_)));
        assert!(matches!(of_postgres("25P03", String::new()), Fault::Away(_)));
        assert!(matches!(of_postgres("42P01", String::new()), Fault::Broken(_)));
        assert!(matches!(of_sqlite("2067", String::new()), Fault::Data(_)));
        assert!(matches!(of_sqlite("5", String::new()), Fault::Again(_)));
        assert!(matches!(of_sqlite("1", String::new()), Fault::Broken(_)));
    }
}
