//! Channels, and what a recipient looks like on each.

use crate::{RECIPIENT_BYTES_MAX, SUBJECT_CHARS_MAX};

/// The longest mail address, in bytes.
const ADDRESS_BYTES_MAX: usize = 254;
/// The longest part of it before the `@`, in bytes.
const LOCAL_BYTES_MAX: usize = 64;
/// What a secret looks like before its value is put in.
const MARKER: &str = "~secret~";

/// How a note reaches people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// A mail.
    Email,
    /// An incoming webhook of Slack.
    Slack,
    /// A signed POST.
    Webhook,
}

impl Channel {
    /// Every channel.
    pub const ALL: [Self; 3] = [Self::Email, Self::Slack, Self::Webhook];

    /// The word for it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Email => "EMAIL",
            Self::Slack => "SLACK",
            Self::Webhook => "WEBHOOK",
        }
    }

    /// A channel by its word, or a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|channel| channel.label().eq_ignore_ascii_case(text));
        found.ok_or_else(|| format!("\"{}\" is no channel: write EMAIL, SLACK or WEBHOOK", shown(text)))
    }
}

/// Whether somebody can be told on a channel, or a sentence.
pub fn check_recipient(channel: Channel, recipient: &str) -> Result<(), String> {
    if recipient.is_empty() || recipient.len() > RECIPIENT_BYTES_MAX {
        return Err(format!("a recipient has 1 to {RECIPIENT_BYTES_MAX} bytes"));
    }
    if recipient.chars().any(|c| c.is_control() || is_break(c)) {
        return Err(format!("\"{}\" has a line break or a control character in it", shown(recipient)));
    }
    let fine = match channel {
        Channel::Email => is_address(recipient),
        Channel::Slack | Channel::Webhook => is_url(recipient) || recipient.starts_with(MARKER),
    };
    match (fine, channel) {
        (true, _) => Ok(()),
        (false, Channel::Email) => {
            Err(format!("\"{}\" is no mail address such as ada@example.org", shown(recipient)))
        }
        (false, _) => Err(format!("\"{}\" is no address of http or https", shown(recipient))),
    }
}

/// Whether a text can be the subject of a mail, or a sentence.
pub fn check_subject(subject: &str) -> Result<(), String> {
    if subject.chars().count() > SUBJECT_CHARS_MAX {
        return Err(format!("is longer than {SUBJECT_CHARS_MAX} characters"));
    }
    if subject.chars().any(|c| c.is_control() || is_break(c)) {
        return Err("has a line break or a control character in it".into());
    }
    Ok(())
}

/// Line breaks that are no control characters.
fn is_break(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

fn is_address(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let marks = "!#$%&'*+-/=?^_`{|}~.";
    let sound = |local: &str| {
        !local.is_empty()
            && local.len() <= LOCAL_BYTES_MAX
            && local.chars().all(|c| c.is_alphanumeric() || marks.contains(c))
            && !local.starts_with('.')
            && !local.ends_with('.')
            && !local.contains("..")
    };
    let label = |label: &str| {
        !label.is_empty()
            && label.len() <= 63
            && label.chars().all(|c| c.is_alphanumeric() || c == '-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.len() <= ADDRESS_BYTES_MAX && sound(local) && domain.split('.').all(label)
}

fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/') && !rest.contains(char::is_whitespace))
}

/// A text as it may be shown: short, and on one line.
fn shown(text: &str) -> String {
    text.chars().take(80).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipients_are_those_of_their_channel() {
        for (channel, recipient, fine) in [
            (Channel::Email, "manager@company.com", true),
            (Channel::Email, "first.last+tag@mail.example.org", true),
            (Channel::Email, "root@localhost", true),
            (Channel::Email, "jiří@příklad.cz", true),
            (Channel::Email, "nobody", false),
            (Channel::Email, "@example.org", false),
            (Channel::Email, "a@", false),
            (Channel::Email, "a b@example.org", false),
            (Channel::Email, "a@example.org, b@example.org", false),
            (Channel::Email, "Ada <a@example.org>", false),
            (Channel::Email, "a@example.org\r\nBcc: all@example.org", false),
            (Channel::Email, "a@example.org\n", false),
            (Channel::Email, "a\u{2028}b@example.org", false),
            (Channel::Email, "a..b@example.org", false),
            (Channel::Email, "a@-example.org", false),
            (Channel::Slack, "https://hooks.slack.com/services/T/B/x", true),
            (Channel::Slack, "~secret~HOOK~00~", true),
            (Channel::Slack, "#general", false),
            (Channel::Webhook, "http://127.0.0.1:9000/hook?x=1", true),
            (Channel::Webhook, "ftp://example.org/", false),
            (Channel::Webhook, "https:///nowhere", false),
            (Channel::Webhook, "https://a b/", false),
            (Channel::Webhook, "https://example.org/\r\nX: y", false),
            (Channel::Webhook, "", false),
        ] {
            assert_eq!(check_recipient(channel, recipient).is_ok(), fine, "{channel:?} {recipient:?}");
        }
        let long = format!("{}@example.org", "a".repeat(65));
        assert!(check_recipient(Channel::Email, &long).is_err());
        let sentence = check_recipient(Channel::Email, &"\n".repeat(1_999)).expect_err("it is refused");
        assert!(sentence.len() < 300 && !sentence.contains('\n'), "{sentence}");
    }

    #[test]
    fn channels_and_subjects_are_checked() {
        assert_eq!(Channel::parse("Slack"), Ok(Channel::Slack));
        assert!(Channel::parse("FAX").is_err_and(|sentence| sentence.contains("no channel")));
        assert!(check_subject("Freigabe für Ticket 4711 – bitte").is_ok());
        assert!(check_subject("Hello\r\nBcc: all@example.org").is_err());
        assert!(check_subject(&"x".repeat(SUBJECT_CHARS_MAX + 1)).is_err());
    }
}
