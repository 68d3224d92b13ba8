//! Rust code without what is only text: comments, strings and characters.

/// The code with comments, strings and characters blanked; lines stay where they are.
pub(crate) fn strip(source: &str) -> String {
    let chars: Vec<char> = source.chars().collect();
    let mut code = String::with_capacity(source.len());
    let mut at = 0;
    while at < chars.len() {
        let end = match chars[at] {
            '/' if chars.get(at + 1) == Some(&'/') => line_end(&chars, at),
            '/' if chars.get(at + 1) == Some(&'*') => block_end(&chars, at),
            '"' => string_end(&chars, at),
            'r' if !after_name(&chars, at) => raw_end(&chars, at).unwrap_or(at),
            '\'' => char_end(&chars, at),
            _ => at,
        };
        if end == at {
            code.push(chars[at]);
            at += 1;
        } else {
            code.extend(chars[at..end].iter().map(|&c| if c == '\n' { '\n' } else { ' ' }));
            at = end;
        }
    }
    code
}

/// The names in code, each with its line from 1 and the rest of the code after it.
pub(crate) fn names(code: &str) -> Vec<(usize, &str, &str)> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut rest = code;
    let mut line = 1;
    while let Some(start) = rest.find(is_name) {
        line += rest[..start].matches('\n').count();
        rest = &rest[start..];
        let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        found.push((line, &rest[..end], &rest[end..]));
        rest = &rest[end..];
    }
    found
}

fn line_end(chars: &[char], at: usize) -> usize {
    chars[at..].iter().position(|&c| c == '\n').map_or(chars.len(), |length| at + length)
}

fn block_end(chars: &[char], at: usize) -> usize {
    let mut depth = 0;
    let mut end = at;
    while end < chars.len() {
        match (chars[end], chars.get(end + 1)) {
            ('/', Some('*')) => (depth, end) = (depth + 1, end + 2),
            ('*', Some('/')) => (depth, end) = (depth - 1, end + 2),
            _ => end += 1,
        }
        if depth == 0 {
            break;
        }
    }
    end.min(chars.len())
}

fn string_end(chars: &[char], at: usize) -> usize {
    let mut end = at + 1;
    while end < chars.len() {
        match chars[end] {
            '\\' => end += 2,
            '"' => return end + 1,
            _ => end += 1,
        }
    }
    chars.len()
}

/// Of `r"…"` and `r#"…"#`.
fn raw_end(chars: &[char], at: usize) -> Option<usize> {
    let hashes = chars[at + 1..].iter().take_while(|&&c| c == '#').count();
    let start = at + 1 + hashes;
    if chars.get(start) != Some(&'"') {
        return None;
    }
    let closes = |end: usize| {
        chars[end] == '"' && chars[end + 1..].iter().take(hashes).filter(|&&c| c == '#').count() == hashes
    };
    Some((start + 1..chars.len()).find(|&end| closes(end)).map_or(chars.len(), |end| end + 1 + hashes))
}

/// Of a character; a lifetime is code.
fn char_end(chars: &[char], at: usize) -> usize {
    match (chars.get(at + 1), chars.get(at + 2)) {
        (Some('\\'), _) => {
            chars[at + 3..].iter().position(|&c| c == '\'').map_or(chars.len(), |length| at + 4 + length)
        }
        (Some(_), Some('\'')) => at + 3,
        _ => at,
    }
}

fn after_name(chars: &[char], at: usize) -> bool {
    at.checked_sub(1).is_some_and(|before| chars[before].is_alphanumeric() || chars[before] == '_')
}

#[test]
fn text_is_not_code() {
    let check = |source: &str, expected: &[&str]| {
        let code = strip(source);
        let found: Vec<&str> = names(&code).into_iter().map(|(_, name, _)| name).collect();
        assert_eq!(found, expected, "{source}");
    };
    check("a // b\nc", &["a", "c"]);
    check("a /* b /* c */ d */ e", &["a", "e"]);
    check(r#"a("b \" c") d"#, &["a", "d"]);
    check("a r#\"b \" c\"# d", &["a", "d"]);
    check("a 'b' '\\'' '\\u{1}' c", &["a", "c"]);
    check("for<'a> bar\"x\"", &["for", "a", "bar"]);
    assert_eq!(names(&strip("a\n\"x\ny\"\nb"))[1].0, 4, "lines stay where they are");
}
