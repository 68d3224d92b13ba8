//! A note as an author writes it in a configuration.

use serde_json::{Map, Value};
use stepwell_schedule::{Zone, after};

use crate::{Channel, RECIPIENTS_MAX, SERIES_MAX, SUBJECT, check_recipient, check_subject};

/// The longest name of a sender.
const SENDER_BYTES_MAX: usize = 100;

/// A note, and how often it goes out.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// How it goes out.
    pub channel: Channel,
    /// Who gets it; nobody means whoever is behind the sender's address.
    pub recipients: Vec<String>,
    /// The subject, where the channel has one.
    pub subject: String,
    /// The text.
    pub message: String,
    /// Which of the tenant's senders sends it.
    pub sender: Option<String>,
    /// The wait between two.
    pub every: Option<String>,
    /// How many in all.
    pub max: Option<u64>,
    /// Whether the step fails if it cannot be sent.
    pub required: bool,
    /// How often one is tried.
    pub retry: Value,
}

/// Reads a note. Its fields stand in `config`, and null is what a template will bring: then there is no note yet, and
/// what is known has been checked. A sentence begins with the field that makes no sense.
pub fn read(config: &Value, now_ms: i64) -> Result<Option<Notice>, String> {
    let empty = Map::new();
    let fields = Fields(config.as_object().unwrap_or(&empty));
    let channel = fields.channel()?;
    let recipients = fields.recipients(channel)?;
    let subject = fields.text("subject", check_subject)?;
    let message = fields.text("message", |message| match message.trim() {
        "" => Err("is empty".into()),
        _ if message.contains('\0') => Err("has a NUL character in it".into()),
        _ => Ok(()),
    })?;
    if message == Text::Absent {
        return Err("message: is needed".into());
    }
    let sender = fields.text("sender", check_sender)?;
    let every = fields.every(now_ms)?;
    let max = fields.max(every != Text::Absent)?;
    let retry = fields.0.get("retry").cloned().unwrap_or(Value::Null);
    let required = match fields.0.get("required") {
        None => Some(false),
        Some(Value::Bool(required)) => Some(*required),
        Some(Value::Null) => None,
        Some(_) => return Err("required: is true or false".into()),
    };
    // All of it is known, or there is no note yet.
    let known = || {
        Some(Notice {
            channel: channel?,
            recipients: recipients?,
            subject: subject.or(Some(SUBJECT.into()))??,
            message: message.or(None)??,
            sender: sender.or(None)?,
            every: every.or(None)?,
            max: max.ok()?,
            required: required?,
            retry,
        })
    };
    Ok(known())
}

/// A text that may be absent, or not known yet.
#[derive(Clone, Debug, PartialEq)]
enum Text {
    Absent,
    Unknown,
    Known(String),
}

impl Text {
    /// The text, or what stands for an absent one; none if it is not known yet.
    fn or(self, absent: Option<String>) -> Option<Option<String>> {
        match self {
            Self::Absent => Some(absent),
            Self::Unknown => None,
            Self::Known(text) => Some(Some(text)),
        }
    }
}

/// Not known yet.
struct Unknown;

struct Fields<'a>(&'a Map<String, Value>);

impl Fields<'_> {
    fn text(&self, name: &str, check: impl Fn(&str) -> Result<(), String>) -> Result<Text, String> {
        match self.0.get(name) {
            None => Ok(Text::Absent),
            Some(Value::Null) => Ok(Text::Unknown),
            Some(Value::String(text)) => {
                check(text).map_err(|why| format!("{name}: {why}"))?;
                Ok(Text::Known(text.clone()))
            }
            Some(_) => Err(format!("{name}: is no text")),
        }
    }

    /// None if it is not known yet.
    fn channel(&self) -> Result<Option<Channel>, String> {
        match self.text("channel", |text| Channel::parse(text).map(drop))? {
            Text::Absent => Err("channel: is needed: EMAIL, SLACK or WEBHOOK".into()),
            Text::Unknown => Ok(None),
            Text::Known(text) => Channel::parse(&text).map(Some),
        }
    }

    /// None if they are not known yet.
    fn recipients(&self, channel: Option<Channel>) -> Result<Option<Vec<String>>, String> {
        let list = match self.0.get("recipients") {
            None => &Vec::new(),
            Some(Value::Null) => return Ok(None),
            Some(Value::Array(list)) => list,
            Some(_) => return Err("recipients: is no list".into()),
        };
        if list.is_empty() && channel == Some(Channel::Email) {
            return Err("recipients: a mail has at least one".into());
        }
        if list.len() > RECIPIENTS_MAX {
            return Err(format!("recipients: there are {}; at most {RECIPIENTS_MAX} are told", list.len()));
        }
        let (mut known, mut complete) = (Vec::new(), true);
        for recipient in list {
            match recipient {
                Value::Null => complete = false,
                Value::String(text) => {
                    // Where the channel is not known, a line break is as wrong.
                    let wrong = match channel {
                        Some(channel) => check_recipient(channel, text),
                        None => check_subject(text),
                    };
                    wrong.map_err(|why| format!("recipients: {why}"))?;
                    if !known.contains(text) {
                        known.push(text.clone());
                    }
                }
                _ => return Err("recipients: is a list of texts".into()),
            }
        }
        Ok(complete.then_some(known))
    }

    fn every(&self, now_ms: i64) -> Result<Text, String> {
        let text = match self.0.get("every") {
            None => return Ok(Text::Absent),
            Some(Value::Null) => return Ok(Text::Unknown),
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(seconds)) => seconds.to_string(),
            Some(_) => return Err("every: is a duration such as 24h".into()),
        };
        after(&text, now_ms, &Zone::UTC).map_err(|why| format!("every: {why}"))?;
        Ok(Text::Known(text))
    }

    fn max(&self, repeated: bool) -> Result<Result<Option<u64>, Unknown>, String> {
        match self.0.get("max") {
            None => Ok(Ok(None)),
            Some(_) if !repeated => Err("max: means nothing without `every`".into()),
            Some(Value::Null) => Ok(Err(Unknown)),
            Some(value) => match value.as_u64().filter(|max| (1..=SERIES_MAX).contains(max)) {
                Some(max) => Ok(Ok(Some(max))),
                None => Err(format!("max: is a number from 1 to {SERIES_MAX}")),
            },
        }
    }
}

fn check_sender(name: &str) -> Result<(), String> {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    match !name.is_empty() && name.len() <= SENDER_BYTES_MAX && name.chars().all(fine) {
        true => Ok(()),
        false => Err(format!("is a name of 1 to {SENDER_BYTES_MAX} letters, digits, `-` and `_`")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: i64 = 1_767_225_600_000;

    #[test]
    fn a_whole_note_is_read() {
        let config = json!({
            "channel": "EMAIL", "recipients": ["a@example.org", "b@example.org", "a@example.org"],
            "message": "Approval pending", "every": 86_400, "max": 3, "required": true, "sender": "mail-1",
        });
        let notice = read(&config, NOW).expect("it is good").expect("all of it is known");
        assert_eq!(notice.recipients, ["a@example.org", "b@example.org"]);
        assert_eq!((notice.subject.as_str(), notice.max, notice.required), (SUBJECT, Some(3), true));
        let config = json!({ "channel": "slack", "message": "Hello" });
        assert_eq!(read(&config, NOW).expect("it is good").map(|notice| notice.recipients), Some(Vec::new()));
    }

    #[test]
    fn what_is_not_known_yet_is_no_mistake() {
        for unknown in ["channel", "recipients", "subject", "message", "sender", "every", "max", "required"] {
            let mut config = json!({
                "channel": "EMAIL", "recipients": ["a@example.org"], "subject": "s", "message": "m", "sender": "x",
                "every": "1h", "max": 2, "required": false,
            });
            config[unknown] = Value::Null;
            assert_eq!(read(&config, NOW), Ok(None), "{unknown}");
        }
        let config = json!({ "channel": "EMAIL", "recipients": [null], "message": "m" });
        assert_eq!(read(&config, NOW), Ok(None));
    }

    #[test]
    fn nonsense_is_told_by_the_name_of_its_field() {
        let good = json!({ "channel": "EMAIL", "recipients": ["a@example.org"], "message": "m" });
        for (field, value, about) in [
            ("channel", json!("FAX"), "no channel"),
            ("channel", json!(7), "no text"),
            ("recipients", json!([]), "at least one"),
            ("recipients", json!("a@example.org"), "no list"),
            ("recipients", json!(["a@example.org\r\nBcc: b@example.org"]), "line break"),
            ("recipients", json!(["nobody"]), "no mail address"),
            ("recipients", json!(vec!["a@example.org"; 51]), "at most 50"),
            ("subject", json!("a\nb"), "line break"),
            ("message", json!("  "), "empty"),
            ("sender", json!("no such"), "letters"),
            ("every", json!("0s"), "longer than 0"),
            ("every", json!("sometimes"), "not a delay"),
            ("every", json!(true), "duration"),
            ("max", json!(3), "without `every`"),
            ("required", json!("yes"), "true or false"),
        ] {
            let mut config = good.clone();
            config[field] = value.clone();
            let sentence = read(&config, NOW).expect_err("it is refused");
            assert!(sentence.starts_with(&format!("{field}: ")) && sentence.contains(about), "{sentence}");
        }
        let mut config = good.clone();
        (config["every"], config["max"]) = (json!("1h"), json!(0));
        assert!(read(&config, NOW).is_err_and(|sentence| sentence.starts_with("max: ")));
        // Where the channel comes from a template, a line break is still one.
        (config["channel"], config["max"]) = (Value::Null, json!(1));
        config["recipients"] = json!(["x\ny"]);
        assert!(read(&config, NOW).is_err_and(|sentence| sentence.contains("line break")));
        for absent in ["channel", "message"] {
            let mut config = good.clone();
            config.as_object_mut().map(|fields| fields.remove(absent));
            assert!(read(&config, NOW).is_err_and(|sentence| sentence.starts_with(absent)));
        }
    }
}
