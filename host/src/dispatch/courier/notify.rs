//! The effect `notify`: a note to people, by mail, to Slack or to a webhook; tried again for those who have not got it.
//!
//! Each try is kept: who got it, who did not, and why. The step is told once, when all have it or it is given up.

use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};
use stepwell_notice::Channel;

use super::{Courier, Tries, Trouble, hook, mail};
use crate::domain::effect::Effect;
use crate::domain::event::Event;
use crate::domain::id::fresh;
use crate::domain::json::canonical;
use crate::domain::reminder::{Reminder, ReminderStatus};
use crate::domain::sender::Sender;
use crate::domain::timer::OutboxItem;
use crate::engine::Error;
use crate::engine::port::{StoreError, Write};
use crate::failpoint::{self, Point};

/// The time for one try, all of its recipients together.
pub(super) const TRY_MAX: Duration = Duration::from_secs(60);
/// The custom event of a note that is over, sent to steps whose descriptor's `accepts` lists it.
const NOTIFIED: &str = "notified";
/// The longest reason that is kept, in characters.
const ERROR_CHARS_MAX: usize = 2_000;

/// A note, as it leaves.
pub(super) struct Note {
    pub(super) key: String,
    pub(super) channel: String,
    pub(super) recipients: Vec<String>,
    pub(super) subject: String,
    pub(super) message: String,
    pub(super) extra: Value,
}

/// What a try has come to.
#[derive(Default)]
struct Tried {
    sender: Option<String>,
    sent: Vec<String>,
    failed: Vec<(String, Trouble)>,
}

/// Tries an item once, and notes what came of it.
pub(super) async fn run(courier: &Courier, item: OutboxItem, effect: Effect) -> Result<(), Error> {
    let Effect::Notify { key, channel, recipients, subject, message, extra } = effect else { return Ok(()) };
    let note = Note { key, channel, recipients, subject, message, extra };
    // What it reminds of is over: nobody wants to hear of it any more.
    if let Some(until) = note.extra["origin"]["until"].as_str()
        && courier.engine.step_has_ended(&item.tenant, item.instance_id, until).await?
    {
        return courier.engine.sent(&item, None, Vec::new()).await;
    }
    if !courier.hold(&item, TRY_MAX).await? {
        return Ok(());
    }
    let tried = attempt(courier, &item, &note).await;
    failpoint::pass(Point::OutboxSent);
    settle(courier, item, &note, tried).await
}

async fn attempt(courier: &Courier, item: &OutboxItem, note: &Note) -> Tried {
    let all_failed = |trouble: Trouble| Tried {
        failed: match note.recipients.is_empty() {
            true => vec![(String::new(), trouble)],
            false => note.recipients.iter().map(|to| (to.clone(), trouble.clone())).collect(),
        },
        ..Tried::default()
    };
    let channel = match Channel::parse(&note.channel) {
        Ok(channel) => channel,
        Err(why) => return all_failed(Trouble::Never(why)),
    };
    let named = note.extra["sender"].as_str();
    let sender = match courier.engine.sender_for(&item.tenant, channel, named).await {
        Ok(sender) => sender,
        Err(error) => return all_failed(error.into()),
    };
    let results: Vec<(String, Result<(), Trouble>)> = match (channel, &sender) {
        (Channel::Email, None) => {
            let why = "there is no sender for mail: set one with `stepwell sender set NAME --channel EMAIL`";
            // An operator may set one meanwhile.
            return all_failed(Trouble::Again(why.into()));
        }
        (Channel::Email, Some(sender)) => mail::send(courier, item, note, sender).await,
        (Channel::Slack | Channel::Webhook, sender) => {
            let targets = match targets(courier, item, note, sender.as_ref()) {
                Ok(targets) => targets,
                Err(trouble) => return all_failed(trouble),
            };
            let sends = targets.into_iter().map(async |(to, url)| {
                (to, hook::send(courier, item, note, channel, sender.as_ref(), &url).await)
            });
            join_all(sends).await
        }
    };
    let mut tried = Tried { sender: sender.map(|sender| sender.name), ..Tried::default() };
    for (to, result) in results {
        match result {
            Ok(()) => tried.sent.push(to),
            Err(trouble) => tried.failed.push((to, trouble)),
        }
    }
    tried
}

/// Who is told, and at which address: the recipients, or whoever is behind the sender's own.
fn targets(
    courier: &Courier,
    item: &OutboxItem,
    note: &Note,
    sender: Option<&Sender>,
) -> Result<Vec<(String, String)>, Trouble> {
    if !note.recipients.is_empty() {
        return Ok(note.recipients.iter().map(|url| (url.clone(), url.clone())).collect());
    }
    let settings = sender.map(|sender| &sender.settings);
    let secret = settings.and_then(|settings| settings.url_secret.as_ref());
    let url = match (settings.and_then(|settings| settings.url.clone()), secret) {
        (Some(url), _) => url,
        // It becomes the address as the request leaves, like any secret of a request.
        (None, Some(name)) => courier.engine.keyring().marker(&item.tenant, item.step_execution_id, name),
        (None, None) => {
            let why = format!(
                "nobody is to be told: neither the note nor a sender for {} has an address",
                note.channel
            );
            return Err(Trouble::Again(why));
        }
    };
    Ok(vec![(String::new(), url)])
}

/// Notes a try, and what is next: nothing, another try for those who have not got it, or a dead letter.
async fn settle(courier: &Courier, item: OutboxItem, note: &Note, tried: Tried) -> Result<(), Error> {
    let why = reasons(&tried.failed);
    if let Some(why) = database(&tried.failed) {
        return Err(Error::Store(StoreError::Unavailable(why)));
    }
    let mut rows = Vec::new();
    if !tried.sent.is_empty() {
        rows.push(row(courier, &item, note, &tried, ReminderStatus::Sent, None));
    }
    if tried.failed.is_empty() {
        return courier.answered(&item, told(note, ReminderStatus::Sent, None), rows).await;
    }
    let rest = OutboxItem { payload: for_the_rest(&item, &tried.failed), ..item.clone() };
    if tried.failed.iter().all(|(_, trouble)| *trouble == Trouble::Crowded) {
        return courier.later(rest, courier.crowded_wait(), None, rows).await;
    }
    rows.push(row(courier, &item, note, &tried, ReminderStatus::Failed, Some(&why)));
    let hope = tried.failed.iter().any(|(_, trouble)| !matches!(trouble, Trouble::Never(_)));
    let tries = Tries::of(&note.extra);
    match tries.wait(item.attempts.saturating_add(1), None).filter(|_| hope) {
        Some(wait) => courier.later(rest, wait, Some(&why), rows).await,
        None => {
            rows.push(courier.dead(&rest, &why));
            courier.answered(&item, told(note, ReminderStatus::Failed, Some(&why)), rows).await
        }
    }
}

/// What the step is told. A deadline is the host's own: nobody is.
fn told(note: &Note, status: ReminderStatus, error: Option<&str>) -> Option<Event> {
    if note.extra["origin"].get("deadline").is_some() {
        return None;
    }
    let payload = json!({ "key": note.key, "status": status.label(), "error": error });
    Some(Event::Custom { custom_kind: NOTIFIED.into(), payload })
}

/// The item for those who have not got it.
fn for_the_rest(item: &OutboxItem, failed: &[(String, Trouble)]) -> String {
    let Ok(mut payload) = serde_json::from_str::<Value>(&item.payload) else { return item.payload.clone() };
    let rest: Vec<&String> = failed.iter().map(|(to, _)| to).filter(|to| !to.is_empty()).collect();
    payload["recipients"] = json!(rest);
    canonical(&payload)
}

fn row(
    courier: &Courier,
    item: &OutboxItem,
    note: &Note,
    tried: &Tried,
    status: ReminderStatus,
    error: Option<&str>,
) -> Write {
    let (now, origin) = (courier.clock.now(), &note.extra["origin"]);
    let recipients: Vec<&String> = match status {
        ReminderStatus::Sent => tried.sent.iter().collect(),
        ReminderStatus::Failed => tried.failed.iter().map(|(to, _)| to).collect(),
    };
    Write::InsertReminder(Reminder {
        id: fresh(),
        tenant: item.tenant.clone(),
        timer_id: origin["timerId"].as_str().and_then(|id| id.parse().ok()),
        workflow_instance_id: item.instance_id,
        step_execution_id: item.step_execution_id,
        step_id: origin["stepId"].as_str().unwrap_or_default().to_owned(),
        key: note.key.clone(),
        attempt: item.attempts.saturating_add(1),
        sender: tried.sender.clone(),
        channel: note.channel.clone(),
        recipients: recipients
            .iter()
            .filter(|to| !to.is_empty())
            .map(|to| named(courier, item, to))
            .collect(),
        message: note.message.clone(),
        sent_at: now,
        status,
        error_message: error.map(str::to_owned),
        created_at: now,
    })
}

/// A recipient with the names of its secrets in place of what stands for them.
fn named(courier: &Courier, item: &OutboxItem, recipient: &str) -> String {
    let markers = courier.engine.keyring().markers(&item.tenant, item.step_execution_id, recipient);
    markers
        .into_iter()
        .fold(recipient.to_owned(), |text, (marker, name)| text.replace(&marker, &format!("[secret {name}]")))
}

/// Why it did not reach them, each reason once.
fn reasons(failed: &[(String, Trouble)]) -> String {
    let mut reasons: Vec<String> = Vec::new();
    for (_, trouble) in failed {
        let reason = match trouble {
            Trouble::Again(why) | Trouble::Never(why) | Trouble::Database(why) => why.clone(),
            Trouble::Crowded => "too much was under way".to_owned(),
        };
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    // NUL is what no database takes.
    reasons.join("; ").replace('\0', "\u{fffd}").chars().take(ERROR_CHARS_MAX).collect()
}

fn database(failed: &[(String, Trouble)]) -> Option<String> {
    failed.iter().find_map(|(_, trouble)| match trouble {
        Trouble::Database(why) => Some(why.clone()),
        _ => None,
    })
}
