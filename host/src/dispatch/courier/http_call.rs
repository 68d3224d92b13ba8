//! The effect `http-call`: sent, tried again, and answered to the step as `http-response`.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::request::{self, Answer, Request};
use super::{Courier, Tries, Trouble};
use crate::domain::effect::Effect;
use crate::domain::event::Event;
use crate::domain::timer::OutboxItem;
use crate::engine::Error;
use crate::engine::port::StoreError;
use crate::failpoint::{self, Point};

/// The time for one try, if the plugin says nothing.
const TIMEOUT_MS: u64 = 30_000;
/// The most that it may say.
const TIMEOUT_MS_MAX: u64 = 300_000;
/// The largest answer, if the plugin says nothing.
const ANSWER_BYTES: u64 = 256 << 10;

/// Tries an item once, and notes what came of it.
pub(super) async fn run(courier: &Courier, item: OutboxItem, effect: Effect) -> Result<(), Error> {
    let Effect::HttpCall { key, method, url, headers, body, timeout_ms, extra } = effect else {
        return Ok(());
    };
    // What is not sent need not be undone.
    if courier.engine.step_was_stopped(&item.tenant, item.step_execution_id).await? {
        return courier.engine.sent(&item, None, Vec::new()).await;
    }
    let timeout_ms = if timeout_ms == 0 { TIMEOUT_MS } else { timeout_ms.min(TIMEOUT_MS_MAX) };
    let answer_bytes_max = extra["maxResponseBytes"].as_u64().unwrap_or(ANSWER_BYTES);
    let request = Request {
        method,
        url,
        headers,
        body: STANDARD.decode(body).unwrap_or_default(),
        timeout: Duration::from_millis(timeout_ms),
        answer_bytes_max: usize::try_from(answer_bytes_max)
            .unwrap_or(usize::MAX)
            .min(courier.engine.limits().payload_bytes_max),
    };
    if !courier.hold(&item, request.timeout).await? {
        return Ok(());
    }
    let tried = request::send(courier, &item, &request).await;
    failpoint::pass(Point::OutboxSent);
    let (failures, tries) = (item.attempts.saturating_add(1), Tries::of(&extra));
    match tried {
        Ok(answer) if answer.passing() => {
            let why = format!("the answer was {}", answer.status);
            match tries.wait(failures, answer.retry_after) {
                Some(wait) => courier.later(item, wait, Some(&why), Vec::new()).await,
                None => {
                    let dead = courier.dead(&item, &why);
                    courier.answered(&item, Some(response(key, answer)), vec![dead]).await
                }
            }
        }
        Ok(answer) => courier.answered(&item, Some(response(key, answer)), Vec::new()).await,
        Err(Trouble::Crowded) => courier.crowded(item).await,
        Err(Trouble::Database(why)) => Err(Error::Store(StoreError::Unavailable(why))),
        Err(Trouble::Again(why)) => match tries.wait(failures, None) {
            Some(wait) => courier.later(item, wait, Some(&why), Vec::new()).await,
            None => given_up(courier, &item, key, &why).await,
        },
        Err(Trouble::Never(why)) => given_up(courier, &item, key, &why).await,
    }
}

async fn given_up(courier: &Courier, item: &OutboxItem, key: String, why: &str) -> Result<(), Error> {
    let event = Event::HttpResponse { key, status: 0, headers: Vec::new(), body: why.to_owned() };
    let dead = courier.dead(item, why);
    courier.answered(item, Some(event), vec![dead]).await
}

fn response(key: String, answer: Answer) -> Event {
    Event::HttpResponse { key, status: answer.status, headers: answer.headers, body: answer.body }
}
