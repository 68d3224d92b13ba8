//! Patterns of task types: `*` stands for any text, also none.

/// Stands for any text.
const ANY: char = '*';

/// Whether it is a pattern rather than a name.
pub fn is_pattern(text: &str) -> bool {
    text.contains(ANY)
}

/// Whether a name is the one, or of the kind, that is wanted. Takes time that grows with the two lengths multiplied at
/// most: each part is looked for once, from where the part before it ended.
pub fn matches(wanted: &str, name: &str) -> bool {
    let Some((first, rest)) = wanted.split_once(ANY) else { return wanted == name };
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let Some((middle, last)) = rest.rsplit_once(ANY) else { return left.ends_with(rest) };
    for part in middle.split(ANY) {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_text() {
        for (wanted, name) in [
            ("n8n-jira-*", "n8n-jira-create"),
            ("n8n-jira-*", "n8n-jira-"),
            ("*", ""),
            ("*", "anything"),
            ("*-jira-*", "n8n-jira-create"),
            ("a*b*c", "aXbYbZc"),
            ("a**c", "abc"),
            ("*čaj", "bílý čaj"),
            ("same", "same"),
        ] {
            assert!(matches(wanted, name), "{wanted} {name}");
        }
        for (wanted, name) in [
            ("n8n-jira-*", "n8n-jir"),
            ("n8n-jira-*", "x-n8n-jira-1"),
            ("a*b*c", "abcX"),
            ("ab*ba", "aba"),
            ("same", "samee"),
            ("", "x"),
        ] {
            assert!(!matches(wanted, name), "{wanted} {name}");
        }
        assert!(is_pattern("a*") && !is_pattern("a"));
    }
}
