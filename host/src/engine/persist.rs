//! Calls whose fault may be the machine's, not the plugin's, are made again before anyone is blamed.

use std::future::Future;
use std::time::Duration;

use crate::domain::plugin::Fault;

/// Tries of a call.
const ATTEMPTS_MAX: u32 = 3;
/// The wait before the second; the next is twice as long.
const WAIT_MS: u64 = 100;

/// Makes a call, again if its fault is transient.
pub(super) async fn call<T, F>(make: impl Fn() -> F) -> Result<T, Fault>
where
    F: Future<Output = Result<T, Fault>>,
{
    let mut attempt = 1;
    loop {
        match make().await {
            Err(fault) if fault.transient && attempt < ATTEMPTS_MAX => {
                tokio::time::sleep(Duration::from_millis(WAIT_MS << (attempt - 1))).await;
                attempt += 1;
            }
            answer => return answer,
        }
    }
}
