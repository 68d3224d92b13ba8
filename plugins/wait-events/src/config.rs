//! What an author writes under `config` (or `data`), and the plan that it means.
//!
//! The host has checked it against the schema. What a schema cannot say is said here, by the name of the field. At
//! deployment, null stands where a template will bring something: that is not refused.

use serde_json::{Map, Value};
use stepwell_sdk::duration::parse_ms;

use crate::request::Call;
use crate::rules::{OnTimeout, Rules, Strategy};

/// The usual time of an event, and of the whole wait.
const TIMEOUT_MS: u64 = 300_000;
/// Named events of one wait.
const EVENTS_MAX: usize = 50;
/// Members of the output that no event may be called.
const RESERVED: [&str; 6] =
    ["status", "receivedEvents", "missingEvents", "correlationId", "executionId", "warning"];

/// What a wait is.
pub(crate) struct Plan {
    pub(crate) call: Option<Call>,
    pub(crate) events: Vec<Awaited>,
    pub(crate) strategy: Strategy,
    required_events: Vec<String>,
    pub(crate) on_timeout: OnTimeout,
    pub(crate) timeout_ms: u64,
    pub(crate) correlation_id: Option<String>,
}

/// One named event.
pub(crate) struct Awaited {
    pub(crate) name: String,
    pub(crate) source: Source,
    pub(crate) filter: Map<String, Value>,
    /// The marker of a secret, and the header.
    pub(crate) hmac: Option<(String, String)>,
    pub(crate) timeout_ms: u64,
    pub(crate) required: bool,
}

/// Where an event comes from.
pub(crate) enum Source {
    /// The answer to the step's own request.
    Response,
    Callback,
    Kafka {
        topic: String,
        correlation_field: String,
        execution_field: String,
    },
    Message {
        name: String,
        correlation: Option<String>,
    },
}

type Object = Map<String, Value>;

impl Plan {
    /// Reads a configuration; the sentence begins with the field that makes no sense.
    pub(crate) fn read(config: &Value) -> Result<Self, String> {
        let empty = Object::new();
        let config = config.as_object().unwrap_or(&empty);
        let mut events = Vec::new();
        let mut call = None;
        if let Some(api) = enabled(config, "apiCall") {
            let read = Call::read(api)?;
            let source = if read.synchronous { Source::Response } else { Source::Callback };
            events.push(awaited("apiCall", "api_response", source, api)?);
            call = Some(read);
        }
        if let Some(kafka) = enabled(config, "kafkaEvent") {
            let source = kafka_source("kafkaEvent", kafka)?;
            events.push(awaited("kafkaEvent", "kafka_event", source, kafka)?);
        }
        let more = config.get("events").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for (at, item) in more.iter().enumerate() {
            let Some(item) = item.as_object().filter(|item| item.get("enabled") != Some(&Value::Bool(false)))
            else {
                continue;
            };
            events.push(named(&format!("events[{at}]"), item)?);
        }
        check_names(&events)?;
        let strategy = strategy(config, &events)?;
        let required_events = required_events(config, strategy, &events)?;
        Ok(Self {
            call,
            strategy,
            required_events,
            on_timeout: match word(config, "onTimeout") {
                None | Some("fail") => OnTimeout::Fail,
                Some("continue") => OnTimeout::Continue,
                Some("continue_with_partial") => OnTimeout::ContinueWithPartial,
                Some(other) => {
                    return Err(format!(
                        "onTimeout: `{other}` is not one of fail, continue, continue_with_partial"
                    ));
                }
            },
            timeout_ms: time("", config)?,
            correlation_id: correlation(config)?,
            events,
        })
    }

    /// Names of the events without which it does not go on.
    pub(crate) fn required(&self) -> Vec<String> {
        let names = |chosen: &dyn Fn(&Awaited) -> bool| -> Vec<String> {
            self.events.iter().filter(|event| chosen(event)).map(|event| event.name.clone()).collect()
        };
        match self.strategy {
            Strategy::Custom => self.required_events.clone(),
            Strategy::All | Strategy::RequiredOnly => names(&|event| event.required),
            Strategy::Any | Strategy::Count(_) | Strategy::None => Vec::new(),
        }
    }

    /// The rules that decide.
    pub(crate) fn rules(&self) -> Rules {
        Rules {
            events: self.events.iter().map(|event| event.name.clone()).collect(),
            required: self.required(),
            strategy: self.strategy,
            on_timeout: self.on_timeout,
        }
    }
}

/// A part that is there and not switched off.
fn enabled<'a>(config: &'a Object, name: &str) -> Option<&'a Object> {
    let part = config.get(name)?.as_object()?;
    (part.get("enabled") != Some(&Value::Bool(false))).then_some(part)
}

fn awaited(field: &str, name: &str, source: Source, part: &Object) -> Result<Awaited, String> {
    let filter = part.get("filter").and_then(Value::as_object).cloned().unwrap_or_default();
    let hmac = part.get("hmac").and_then(Value::as_object).map(|hmac| {
        let secret = word(hmac, "secret").unwrap_or_default().to_owned();
        (secret, word(hmac, "header").unwrap_or("X-Signature").to_owned())
    });
    if hmac.is_some() && !matches!(source, Source::Callback) {
        return Err(format!("{field}: only a callback has a signature; remove `hmac`"));
    }
    Ok(Awaited {
        name: name.to_owned(),
        source,
        filter,
        hmac,
        timeout_ms: time(&format!("{field}."), part)?,
        required: part.get("required") != Some(&Value::Bool(false)),
    })
}

fn kafka_source(field: &str, part: &Object) -> Result<Source, String> {
    let topic = match part.get("topic") {
        None => return Err(format!("{field}: `topic` is needed")),
        Some(topic) => topic.as_str().unwrap_or_default().to_owned(),
    };
    let name = |name: &str, usual: &str| word(part, name).unwrap_or(usual).to_owned();
    Ok(Source::Kafka {
        topic,
        correlation_field: name("correlationIdField", "correlation_id"),
        execution_field: name("executionIdField", "execution_id"),
    })
}

fn named(field: &str, item: &Object) -> Result<Awaited, String> {
    let name = word(item, "name").unwrap_or_default();
    let source = match word(item, "source") {
        Some("callback") => Source::Callback,
        Some("kafka") => kafka_source(field, item)?,
        Some("message") => {
            if item.contains_key("filter") {
                return Err(format!(
                    "{field}: a message has no filter; tell messages apart by name and correlation"
                ));
            }
            Source::Message {
                name: word(item, "message").unwrap_or(name).to_owned(),
                correlation: word(item, "correlation").map(str::to_owned),
            }
        }
        _ => return Err(format!("{field}: `source` is callback, kafka or message")),
    };
    awaited(field, name, source, item)
}

fn check_names(events: &[Awaited]) -> Result<(), String> {
    if events.len() > EVENTS_MAX {
        return Err(format!("events: a wait has at most {EVENTS_MAX} events"));
    }
    for (at, event) in events.iter().enumerate() {
        if events[..at].iter().any(|other| other.name == event.name) {
            return Err(format!("events: two events are called `{}`", event.name));
        }
        if RESERVED.contains(&event.name.as_str()) {
            return Err(format!(
                "events: `{}` is a member of the output already; use another name",
                event.name
            ));
        }
    }
    Ok(())
}

fn strategy(config: &Object, events: &[Awaited]) -> Result<Strategy, String> {
    Ok(match word(config, "aggregationStrategy") {
        None | Some("all") => Strategy::All,
        Some("any") => Strategy::Any,
        Some("required_only") => Strategy::RequiredOnly,
        Some("custom") => Strategy::Custom,
        Some("none") => Strategy::None,
        Some("count") => {
            let count = config.get("count").and_then(Value::as_u64);
            let count = count.ok_or("count: with the strategy `count`, say how many events are enough")?;
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            if count == 0 || count > events.len() {
                return Err(format!("count: {count} of {} events cannot be waited for", events.len()));
            }
            Strategy::Count(count)
        }
        Some(other) => {
            return Err(format!(
                "aggregationStrategy: `{other}` is not one of all, any, required_only, custom, count, none"
            ));
        }
    })
}

fn required_events(config: &Object, strategy: Strategy, events: &[Awaited]) -> Result<Vec<String>, String> {
    if strategy != Strategy::Custom {
        return Ok(Vec::new());
    }
    let names = config.get("requiredEvents").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    // A name that a template will bring is not known at the deployment.
    let known: Vec<String> = names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect();
    if names.is_empty() {
        return Err("requiredEvents: with the strategy `custom`, name the events that must come".into());
    }
    if let Some(unknown) = known.iter().find(|name| !events.iter().any(|event| event.name == **name)) {
        return Err(format!("requiredEvents: `{unknown}` is not an event that this step waits for"));
    }
    Ok(known)
}

fn correlation(config: &Object) -> Result<Option<String>, String> {
    match config.get("correlationId") {
        Some(Value::String(id)) if id.is_empty() || id.len() > 255 => {
            Err("correlationId: has 1 to 255 bytes".into())
        }
        Some(Value::String(id)) => Ok(Some(id.clone())),
        Some(Value::Number(id)) => Ok(Some(id.to_string())),
        _ => Ok(None),
    }
}

fn time(field: &str, part: &Object) -> Result<u64, String> {
    let ms = match part.get("timeout") {
        Some(Value::Number(seconds)) => parse_ms(&seconds.to_string()),
        Some(Value::String(text)) => parse_ms(text),
        _ => return Ok(TIMEOUT_MS),
    };
    match ms {
        Ok(0) => Err(format!("{field}timeout: is 0; it is at least a millisecond")),
        Ok(ms) => Ok(ms),
        Err(why) => Err(format!("{field}timeout: {why}")),
    }
}

/// A member that is text, and not empty.
pub(crate) fn word<'a>(part: &'a Object, name: &str) -> Option<&'a str> {
    part.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}
