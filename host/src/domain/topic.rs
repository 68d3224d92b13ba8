//! Topics of Kafka: how a message names one, and which names there can be.

/// A message whose name begins so leaves for Kafka; the rest of the name is the topic.
pub const KAFKA_PREFIX: &str = "kafka:";

/// The longest name of a topic.
pub const TOPIC_BYTES_MAX: usize = 249;

/// The topic of Kafka that a message is meant for, if it is.
pub fn of_message(name: &str) -> Option<&str> {
    name.strip_prefix(KAFKA_PREFIX)
}

/// Whether a topic can be called so, and is not one of the broker's own. Nothing else may reach a client: it would take a
/// name that begins with `^` for a pattern, and read every topic that there is.
pub fn is_legal(topic: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    !topic.is_empty()
        && topic.len() <= TOPIC_BYTES_MAX
        && topic.bytes().all(letter)
        && !matches!(topic, "." | "..")
        && !topic.starts_with("__")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_topics_are_topics() {
        for good in ["orders", "external-service.events", "A_1", "_own"] {
            assert!(is_legal(good), "{good}");
        }
        let long = "x".repeat(TOPIC_BYTES_MAX + 1);
        for bad in ["", ".", "..", "^.*", "a b", "a/b", "ä", "__consumer_offsets", "a\n", &long] {
            assert!(!is_legal(bad), "{bad}");
        }
    }

    #[test]
    fn a_message_says_whether_it_is_for_kafka() {
        assert_eq!(of_message("kafka:orders"), Some("orders"));
        assert_eq!(of_message("orders"), None);
    }
}
