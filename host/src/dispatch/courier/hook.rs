//! A note as an HTTP request: Slack's incoming webhook, or a webhook of anybody, signed.

use std::time::Duration;

use serde_json::json;
use stepwell_notice::Channel;

use super::notify::Note;
use super::request::{self, Request};
use super::reveal::Revealed;
use super::{Courier, Trouble};
use crate::domain::Digest;
use crate::domain::sender::Sender;
use crate::domain::timer::OutboxItem;
use crate::engine::keyring::authenticate;

/// The time for one request.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The largest answer; nobody reads it.
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// When the request was signed, in seconds since the Unix epoch.
const TIMESTAMP: &str = "x-stepwell-timestamp";
/// `sha256=` and the HMAC over `TIMESTAMP.BODY`, in hexadecimal digits.
const SIGNATURE: &str = "x-stepwell-signature";

/// Sends a note to one address.
pub(super) async fn send(
    courier: &Courier,
    item: &OutboxItem,
    note: &Note,
    channel: Channel,
    sender: Option<&Sender>,
    url: &str,
) -> Result<(), Trouble> {
    let body = match channel {
        Channel::Slack => json!({ "text": note.message }),
        _ => {
            let origin = &note.extra["origin"];
            json!({
                "message": note.message, "subject": note.subject, "timerId": origin["timerId"],
                "tenant": item.tenant, "workflow": origin["workflow"], "instanceId": item.instance_id,
                "businessKey": origin["businessKey"], "stepId": origin["stepId"], "key": note.key,
            })
        }
    }
    .to_string();
    let revealed =
        Revealed::of(&courier.engine, &item.tenant, item.step_execution_id, std::iter::once(url)).await?;
    let mut headers = vec![
        ("content-type".to_owned(), "application/json".to_owned()),
        // Two addresses of one note are two requests.
        ("idempotency-key".to_owned(), format!("{}-{}", item.id, Digest::of(url.as_bytes()).short())),
    ];
    let secret = sender.and_then(|sender| sender.settings.signing_secret.as_deref());
    if let Some(name) = secret.filter(|_| channel == Channel::Webhook) {
        let (secret, value) = courier.engine.open_secret(&item.tenant, name).await?;
        let parsed = revealed.put_into(url).ok().and_then(|url| reqwest::Url::parse(&url).ok());
        let place = parsed.and_then(|url| request::place(&url).ok());
        if !place.is_some_and(|(host, port)| secret.granted_to(&host, port)) {
            let why = format!(
                "the secret `{name}` is not granted to the host of this webhook: set it again with that host"
            );
            return Err(Trouble::Never(why));
        }
        let seconds = courier.clock.now().millis() / 1_000;
        headers.push((TIMESTAMP.into(), seconds.to_string()));
        headers.push((SIGNATURE.into(), signature(&value, seconds, &body)));
    }
    let request = Request {
        method: "POST".into(),
        url: url.to_owned(),
        headers,
        body: body.into_bytes(),
        timeout: TIMEOUT,
        answer_bytes_max: ANSWER_BYTES_MAX,
    };
    let answer = request::send_revealed(courier, item, &request, &revealed).await?;
    match answer.status {
        200..=299 => Ok(()),
        status if answer.passing() => Err(Trouble::Again(format!("the answer was {status}"))),
        status => Err(Trouble::Never(format!("the answer was {status}"))),
    }
}

fn signature(secret: &str, seconds: i64, body: &str) -> String {
    let mac = authenticate(secret.as_bytes(), format!("{seconds}.{body}").as_bytes());
    let digits: String = mac.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256={digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `printf '1.{}' | openssl dgst -sha256 -hmac key` has it.
    #[test]
    fn a_signature_is_what_others_compute() {
        let expected = "sha256=1ba6b8171186efc613e8bcc0cbdab2748f24984d7c5a84faa2637afa0e40d224";
        assert_eq!(signature("key", 1, "{}"), expected);
    }
}
