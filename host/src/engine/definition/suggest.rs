//! "Did you mean": the known word that is nearest to a mistyped one.

/// A half-sentence that names the nearest known word, or all of them if none is near.
pub(super) fn hint<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(word, &known) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => String::from("there are none"),
        None => format!("known are {}", list(&known)),
    }
}

/// Words as `a`, `b`, `c`.
pub(super) fn list(words: &[&str]) -> String {
    /// More than this many help nobody.
    const WORDS_MAX: usize = 30;
    let mut text =
        words.iter().take(WORDS_MAX).map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    if words.len() > WORDS_MAX {
        text.push_str(", …");
    }
    text
}

fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    /// Longer words are not typing mistakes of anything.
    const WORD_BYTES_MAX: usize = 100;
    if word.len() > WORD_BYTES_MAX {
        return None;
    }
    let folded =
        |text: &str| -> Vec<char> { text.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect() };
    let wanted = folded(word);
    let allowed = match wanted.len() {
        0..=3 => 1,
        4..=8 => 2,
        _ => 3,
    };
    known
        .iter()
        .map(|&candidate| (distance(&wanted, &folded(candidate)), candidate))
        .min_by_key(|&(distance, _)| distance)
        .filter(|&(distance, _)| distance <= allowed)
        .map(|(_, candidate)| candidate)
}

/// Levenshtein's: how many characters must be added, removed or replaced.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
