//! Who held which task from when until when, made from what the workers wrote down, and what must be true of it.
//!
//! A holding is made as short as it can have been: from the host's own time of the lock until the lock's last known
//! end, or until the worker gave the task away, whatever was first. Two of one task that overlap all the same are a
//! task in two hands.

use std::collections::HashMap;

use crate::note::Note;

/// One hand-out.
#[derive(Clone, Debug)]
struct Holding {
    token: String,
    from: i64,
    /// The lock's end, as far as the holder was told.
    expires_at: i64,
    /// When the holder first said that it is done: from then on the task may be elsewhere.
    given_away_at: Option<i64>,
    /// Its reports, and how each was answered, if it was.
    completes: Reports,
    fails: Reports,
    /// Whether the holder was told that the task is cancelled.
    cancelled: bool,
}

/// Reports of a kind under one lock.
#[derive(Clone, Debug, Default)]
struct Reports {
    sent: bool,
    accepted: bool,
}

impl Holding {
    fn until(&self) -> i64 {
        self.given_away_at.unwrap_or(i64::MAX).min(self.expires_at)
    }
}

/// All holdings, by task.
#[derive(Default)]
pub struct Holdings {
    by_task: HashMap<String, Vec<Holding>>,
    /// Notes that make no sense.
    odd: Vec<String>,
}

/// What the run came to.
#[derive(Debug, Default)]
pub struct Told {
    /// Hand-outs.
    pub handed_out: usize,
    /// Tasks that were handed out more than once, one hand after the other.
    pub again: usize,
    /// Reports that were turned away.
    pub refused: usize,
}

impl Holdings {
    /// Takes in the notes of one worker, in order.
    pub fn add(&mut self, notes: Vec<Note>, told: &mut Told) {
        let mut held: HashMap<String, (String, Holding)> = HashMap::new();
        for note in notes {
            match note {
                Note::Got { task, token, locked_at, expires_at, got_at } => {
                    told.handed_out += 1;
                    if locked_at > got_at || expires_at <= locked_at {
                        self.odd.push(format!(
                            "{task} was locked at {locked_at}, seen at {got_at}, until {expires_at}"
                        ));
                    }
                    let (completes, fails) = (Reports::default(), Reports::default());
                    let holding = Holding {
                        token: token.clone(),
                        from: locked_at,
                        expires_at,
                        given_away_at: None,
                        completes,
                        fails,
                        cancelled: false,
                    };
                    if held.insert(token.clone(), (task, holding)).is_some() {
                        self.odd.push(format!("the lock {token} was given twice"));
                    }
                }
                Note::Extended { token, expires_at } => {
                    if let Some((_, holding)) = held.get_mut(&token) {
                        holding.expires_at = holding.expires_at.max(expires_at);
                    }
                }
                Note::Sent { token, verb, at } => {
                    if let Some((_, holding)) = held.get_mut(&token) {
                        holding.given_away_at.get_or_insert(at);
                        holding.reports(&verb).sent = true;
                    }
                }
                Note::Told { token, verb, status, code } => {
                    let Some((task, holding)) = held.get_mut(&token) else { continue };
                    match (status, code.as_str()) {
                        (200, _) => holding.reports(&verb).accepted = true,
                        (409, "lock_lost" | "task_ended") => told.refused += 1,
                        (409, "task_cancelled") => {
                            told.refused += 1;
                            holding.cancelled = true;
                        }
                        _ => self.odd.push(format!("a report on {task} was answered with {status} {code}")),
                    }
                }
            }
        }
        for (task, holding) in held.into_values() {
            self.by_task.entry(task).or_default().push(holding);
        }
    }

    /// Everything that is wrong, given the state in which each task ended.
    pub fn wrong(mut self, ended: &HashMap<String, String>, told: &mut Told) -> Vec<String> {
        let mut wrong = self.odd;
        for (task, holdings) in &mut self.by_task {
            holdings.sort_by_key(|holding| holding.from);
            told.again += usize::from(holdings.len() > 1);
            wrong.extend(overlaps(task, holdings));
            wrong.extend(ending(task, holdings, ended.get(task).map_or("gone", String::as_str)));
        }
        for (task, status) in ended {
            if !["COMPLETED", "FAILED", "CANCELLED"].contains(&status.as_str()) {
                wrong.push(format!("{task} ended as {status}"));
            }
            // A worker may be killed before it could write down what it got, but then it did nothing with it.
            if status != "CANCELLED" && !self.by_task.contains_key(task) {
                wrong.push(format!("{task} is {status}, and nobody had it"));
            }
        }
        wrong
    }
}

impl Holding {
    fn reports(&mut self, verb: &str) -> &mut Reports {
        if verb == "complete" { &mut self.completes } else { &mut self.fails }
    }
}

fn overlaps(task: &str, holdings: &[Holding]) -> Vec<String> {
    let tokens: std::collections::HashSet<&str> =
        holdings.iter().map(|holding| holding.token.as_str()).collect();
    let twice =
        (tokens.len() < holdings.len()).then(|| format!("{task} was handed out twice under one lock"));
    let pairs = holdings.windows(2).filter(|pair| pair[1].from < pair[0].until());
    let overlap =
        pairs.map(|pair| format!("{task} had two holders at once: {:?} and {:?}", pair[0], pair[1]));
    twice.into_iter().chain(overlap).collect()
}

/// What holders were told, against how the task ended.
fn ending(task: &str, holdings: &[Holding], status: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let accepted: Vec<usize> = (0..holdings.len()).filter(|&at| holdings[at].completes.accepted).collect();
    if accepted.len() > 1 {
        wrong.push(format!("{task} was completed by {} holders", accepted.len()));
    }
    if accepted.iter().any(|&at| at + 1 < holdings.len()) {
        wrong.push(format!("{task} was handed out again after its completion: {holdings:?}"));
    }
    let completed = status == "COMPLETED";
    if !accepted.is_empty() && !completed {
        wrong.push(format!("{task} is {status}, and its worker was told that it is completed"));
    }
    if completed && !holdings.iter().any(|holding| holding.completes.sent) {
        wrong.push(format!("{task} is COMPLETED, and nobody said so"));
    }
    if status != "CANCELLED" && holdings.iter().any(|holding| holding.cancelled) {
        wrong.push(format!("{task} is {status}, and a worker was told that it is cancelled"));
    }
    if status == "FAILED" && !holdings.iter().any(|holding| holding.fails.sent) {
        wrong.push(format!("{task} is FAILED, and nobody said so"));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn got(token: &str, from: i64, until: i64) -> Note {
        let (task, token) = ("t".to_owned(), token.to_owned());
        Note::Got { task, token, locked_at: from, expires_at: until, got_at: from + 1 }
    }
    fn sent(token: &str, verb: &str, at: i64) -> Note {
        Note::Sent { token: token.into(), verb: verb.into(), at }
    }
    fn told(token: &str, verb: &str, status: u16) -> Note {
        let code = if status == 409 { "lock_lost" } else { "" };
        Note::Told { token: token.into(), verb: verb.into(), status, code: code.into() }
    }

    #[track_caller]
    fn check(notes: Vec<Note>, status: &str, expected: &[&str]) {
        let (mut holdings, mut told) = (Holdings::default(), Told::default());
        holdings.add(notes, &mut told);
        let wrong = holdings.wrong(&HashMap::from([("t".to_owned(), status.to_owned())]), &mut told);
        assert_eq!(wrong.len(), expected.len(), "{wrong:?}");
        for (found, part) in wrong.iter().zip(expected) {
            assert!(found.contains(part), "{found} has no {part}");
        }
    }

    #[test]
    fn one_hand_after_the_other_is_right() {
        let done = |token: &str, at| [sent(token, "complete", at), told(token, "complete", 200)];
        check([vec![got("a", 10, 90)], done("a", 20).into()].concat(), "COMPLETED", &[]);
        // A lock that ended, a task that was given back, a late report that was refused.
        check([vec![got("a", 10, 20), got("b", 20, 90)], done("b", 30).into()].concat(), "COMPLETED", &[]);
        let failed = vec![got("a", 10, 90), sent("a", "fail", 20), told("a", "fail", 200), got("b", 20, 90)];
        check([failed, done("b", 30).into()].concat(), "COMPLETED", &[]);
        let late =
            vec![got("a", 10, 20), got("b", 25, 90), sent("a", "complete", 26), told("a", "complete", 409)];
        check([late, done("b", 30).into()].concat(), "COMPLETED", &[]);
        // Killed before the answer.
        check(vec![got("a", 10, 90), sent("a", "complete", 20)], "COMPLETED", &[]);
        check(vec![got("a", 10, 90), sent("a", "fail", 20)], "FAILED", &[]);
        check(vec![got("a", 10, 90)], "CANCELLED", &[]);
    }

    #[test]
    fn what_is_wrong_is_found() {
        let done = |token: &str, at| [sent(token, "complete", at), told(token, "complete", 200)];
        check(
            [vec![got("a", 10, 90), got("b", 50, 90)], done("b", 60).into()].concat(),
            "COMPLETED",
            &["two holders"],
        );
        let longer = Note::Extended { token: "a".into(), expires_at: 60 };
        let notes = [vec![got("a", 10, 30), longer, got("b", 40, 90)], done("b", 60).into()].concat();
        check(notes, "COMPLETED", &["two holders"]);
        let again = [vec![got("a", 10, 90)], done("a", 20).into(), vec![got("b", 30, 90)]].concat();
        check(again, "COMPLETED", &["handed out again"]);
        let twice =
            [vec![got("a", 10, 20), got("b", 20, 90)], done("a", 15).into(), done("b", 40).into()].concat();
        check(twice, "COMPLETED", &["completed by 2", "handed out again"]);
        check(
            [vec![got("a", 10, 90)], done("a", 20).into()].concat(),
            "FAILED",
            &["told that", "nobody said"],
        );
        check(vec![got("a", 10, 90)], "COMPLETED", &["nobody said"]);
        check(vec![got("a", 10, 90)], "LOCKED", &["ended as LOCKED"]);
        check(Vec::new(), "COMPLETED", &["nobody had it"]);
        let cancelled = |token: &str| {
            let (token, verb) = (token.to_owned(), "complete".to_owned());
            Note::Told { token, verb, status: 409, code: "task_cancelled".into() }
        };
        let notes = || vec![got("a", 10, 90), sent("a", "complete", 20), cancelled("a")];
        check(notes(), "CANCELLED", &[]);
        check(notes(), "COMPLETED", &["told that it is cancelled"]);
        check(
            vec![got("a", 10, 90), sent("a", "complete", 20), told("a", "complete", 500)],
            "COMPLETED",
            &["500"],
        );
    }
}
