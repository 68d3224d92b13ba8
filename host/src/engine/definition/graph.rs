//! How steps are linked: what each waits for, what follows it, and that no path comes back to where it was.

use std::collections::{HashMap, HashSet};

use super::parse::Draft;
use super::report::{Report, shorten};
use super::suggest;
use crate::domain::definition::ErrorTarget;

/// The links of all steps, in the order of the document.
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    /// For each step the steps that always end before it begins, as a set of bits.
    ancestors: Vec<Vec<u64>>,
}

/// The links of one step.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) depends_on: Vec<String>,
    pub(super) successors: Vec<String>,
    pub(super) incoming: i32,
}

impl Graph {
    /// Whether a step always ends before another begins.
    pub(super) fn is_before(&self, earlier: usize, later: usize) -> bool {
        self.ancestors.get(later).is_some_and(|set| has(set, earlier))
    }
}

/// Links the steps. After a mistake the graph may lack links.
pub(super) fn link(draft: &Draft, report: &mut Report<'_>) -> Graph {
    let index = index(draft, report);
    let handlers = handlers(draft);
    let mut nodes = vec![Node::default(); draft.steps.len()];
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); draft.steps.len()];
    let mut previous: Option<usize> = None;
    for (at, step) in draft.steps.iter().enumerate() {
        let handler = step.depends_on.is_none() && handlers.contains(step.id.as_str());
        match &step.depends_on {
            Some(ids) => {
                for (item, id) in ids.iter().enumerate() {
                    let list = step.field.key("dependsOn");
                    let field = if ids.len() == 1 { list } else { list.index(item) };
                    match index.get(id.as_str()) {
                        Some(&other) if other == at => report.add(&field, "a step cannot wait for itself"),
                        Some(&other) => before[at].push(other),
                        None => report.add(&field, unknown(id, &index)),
                    }
                }
            }
            None => before[at].extend(previous.filter(|_| !handler)),
        }
        if !handler {
            previous = Some(at);
        }
    }
    for (at, others) in before.iter().enumerate() {
        for &other in others {
            nodes[at].depends_on.push(draft.steps[other].id.clone());
            nodes[at].incoming += 1;
            nodes[other].successors.push(draft.steps[at].id.clone());
        }
    }
    link_errors(draft, &index, &mut nodes, &mut before, report);
    link_undoing(draft, &index, &mut nodes, &mut before, report);
    let ancestors = match order(&before) {
        Ok(order) => ancestors(&order, &before),
        Err(cycle) => {
            let ids: Vec<&str> = cycle.iter().map(|&at| draft.steps[at].id.as_str()).collect();
            let way = shorten_way(&ids);
            report.add(&draft.steps[cycle[0]].field, format!("the steps go round in a circle: {way}"));
            Vec::new()
        }
    };
    Graph { nodes, ancestors }
}

fn index<'a>(draft: &'a Draft, report: &mut Report<'_>) -> HashMap<&'a str, usize> {
    let mut index = HashMap::new();
    for (at, step) in draft.steps.iter().enumerate().filter(|(_, step)| !step.id.is_empty()) {
        if index.contains_key(step.id.as_str()) {
            let message = format!("another step has the id `{}`: each needs its own", shorten(&step.id));
            report.add(&step.field.key("id"), message);
        } else {
            index.insert(step.id.as_str(), at);
        }
    }
    index
}

/// The steps that errors lead to, and those that undo others.
fn handlers(draft: &Draft) -> HashSet<&str> {
    draft
        .steps
        .iter()
        .flat_map(|step| step.on_error.steps().into_iter().chain(step.compensate.as_deref()))
        .collect()
}

/// A step that undoes another begins when that has ended, and is no root; no path leads to it otherwise.
fn link_undoing(
    draft: &Draft,
    index: &HashMap<&str, usize>,
    nodes: &mut [Node],
    before: &mut [Vec<usize>],
    report: &mut Report<'_>,
) {
    for (at, step) in draft.steps.iter().enumerate() {
        let Some(id) = &step.compensate else { continue };
        let field = step.field.key("compensate");
        match index.get(id.as_str()) {
            Some(&other) if other == at => report.add(&field, "a step cannot undo itself"),
            Some(&other) => lead(at, other, nodes, before),
            None => report.add(&field, unknown(id, index)),
        }
    }
}

/// A path that is not `dependsOn`'s leads from a step to another.
fn lead(from: usize, to: usize, nodes: &mut [Node], before: &mut [Vec<usize>]) {
    nodes[to].incoming += 1;
    before[to].push(from);
}

fn link_errors(
    draft: &Draft,
    index: &HashMap<&str, usize>,
    nodes: &mut [Node],
    before: &mut [Vec<usize>],
    report: &mut Report<'_>,
) {
    for (at, step) in draft.steps.iter().enumerate() {
        let mut linked = HashSet::new();
        for (code, target) in &step.on_error.by_code {
            let ErrorTarget::Step(id) = target else { continue };
            let field = step.field.key("onError").key(code);
            match index.get(id.as_str()) {
                Some(&other) if other == at => {
                    report.add(&field, "a step's error cannot lead to the step itself");
                }
                Some(&other) if linked.insert(other) => lead(at, other, nodes, before),
                Some(_) => {}
                None => report.add(&field, format!("{}; `end` ends the path", unknown(id, index))),
            }
        }
    }
}

fn unknown(id: &str, index: &HashMap<&str, usize>) -> String {
    let mut known: Vec<&str> = index.keys().copied().collect();
    known.sort_unstable();
    format!("there is no step `{}`: {}", shorten(id), suggest::hint(id, known))
}

/// The steps in an order in which each comes after those before it, or a circle: first and last are the same.
fn order(before: &[Vec<usize>]) -> Result<Vec<usize>, Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        No,
        Open,
        Done,
    }
    let mut seen = vec![Seen::No; before.len()];
    let mut order = Vec::with_capacity(before.len());
    for start in 0..before.len() {
        // The way from `start` back to where we are, each with the number of links that were followed.
        let mut way: Vec<(usize, usize)> =
            if seen[start] == Seen::No { vec![(start, 0)] } else { Vec::new() };
        while let Some((at, followed)) = way.last_mut() {
            let at = *at;
            seen[at] = Seen::Open;
            let next = before[at].get(*followed).copied();
            *followed += 1;
            match next.map(|next| (next, seen[next])) {
                Some((next, Seen::No)) => way.push((next, 0)),
                Some((_, Seen::Done)) => {}
                Some((next, Seen::Open)) => {
                    let mut cycle: Vec<usize> =
                        way.iter().map(|&(at, _)| at).skip_while(|&at| at != next).collect();
                    cycle.push(next);
                    // The walk went backwards; people read forwards.
                    cycle.reverse();
                    return Err(cycle);
                }
                None => {
                    seen[at] = Seen::Done;
                    order.push(at);
                    way.pop();
                }
            }
        }
    }
    Ok(order)
}

fn ancestors(order: &[usize], before: &[Vec<usize>]) -> Vec<Vec<u64>> {
    let words = before.len().div_ceil(64);
    let mut sets = vec![vec![0_u64; words]; before.len()];
    for &at in order {
        let mut set = vec![0_u64; words];
        for &other in &before[at] {
            set.iter_mut().zip(&sets[other]).for_each(|(word, more)| *word |= more);
            set[other / 64] |= 1 << (other % 64);
        }
        sets[at] = set;
    }
    sets
}

fn has(set: &[u64], at: usize) -> bool {
    set.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
}

fn shorten_way(ids: &[&str]) -> String {
    /// A longer circle is shown in part.
    const IDS_MAX: usize = 20;
    let mut way = ids.iter().take(IDS_MAX).copied().collect::<Vec<_>>().join(" -> ");
    if ids.len() > IDS_MAX {
        way.push_str(&format!(" -> … ({} steps)", ids.len() - 1));
    }
    way
}
