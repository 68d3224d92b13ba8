//! Definitions: whatever the text, there is a workflow or a list of mistakes, each with its place.

use proptest::prelude::{Just, Strategy, any};
use proptest::prop_oneof;
use proptest::sample::select;
use stepwell::domain::definition::Workflow;
use stepwell::domain::limits::Limits;
use stepwell::engine::definition::{CODE, Document, compile, read, recompile};
use stepwell::engine::{Error, Mistake};

use crate::cases::{USUAL, Verdict, check, fail};
use crate::{plugins, wild};

/// Sound documents to begin with.
const SOUND: &[&str] = &[
    include_str!("../../../examples/jira/workflow.yaml"),
    "key: k\nname: n\nvariables: {a: 1, b: [x, {c: null}]}\nsteps:\n  - id: a\n    type: EXTERNAL_TASK\n    config:\n      taskType: t\n      input: {x: \"${_vars.a}\", y: '@{workflow.context.z}'}\n      timeout: 1h30m\n    onError: {'*': c, E1: end}\n  - id: b\n    type: EXTERNAL_TASK\n    dependsOn: [a]\n    config:\n      taskType: t\n      outputMapping: {t: $.r.x, u: r.0}\n  - id: c\n    type: EXTERNAL_TASK\n    config: &same\n      taskType: \"u ${steps.a.error.code}\"\n  - id: d\n    type: EXTERNAL_TASK\n    config: *same\n",
    r#"{"key": "k", "steps": [{"id": "a", "type": "EXTERNAL_TASK", "config": {"taskType": "t", "retries": 2, "priority": -1e3, "heartbeat": {"interval": 30, "maxMissed": 3}}}, {"id": "b", "type": "EXTERNAL_TASK", "config": {"taskType": "\u0075\ud83d\ude00"}, "dependsOn": ["a"]}]}"#,
    "steps:\n  - {id: a, type: EXTERNAL_TASK, config: {taskType: t}, compensate: undo}\n  - {id: b, type: EXTERNAL_TASK, config: {taskType: t}}\n  - {id: undo, type: EXTERNAL_TASK, config: {taskType: u, input: {x: '${steps.a.output.x}'}}}\n",
    "steps: []",
    "[{a: 1}, 0x1F, 1.5e3, +7, .5, 'it''s', \"\\x41\", !!str 5, ~]",
    "a: |\n  block\n  text\nb: >-\n  folded\n  text\nc: &x {d: *x}\n",
];

fn any_source() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => (select(SOUND), wild::edits()).prop_map(|(sound, edits)| wild::edited(sound, &edits)),
        2 => wild::text(),
        2 => wild::json().prop_map(|value| value.to_string()),
        2 => (select(SOUND), wild::json()).prop_map(|(sound, value)| format!("{sound}\nextra: {value}\n")),
        1 => (wild::name(), wild::json()).prop_map(|(id, config)| {
            let step = serde_json::json!({ "id": id, "type": "EXTERNAL_TASK", "config": config });
            serde_json::json!({ "steps": [step] }).to_string()
        }),
    ]
}

#[test]
fn any_text_is_a_workflow_or_a_list_of_mistakes() {
    check("any_text_is_a_workflow", USUAL, any_source(), |source| property(&source));
}

/// A few lines that would become gigabytes, and nesting that would end a stack.
#[test]
fn what_grows_is_stopped() {
    let opening = select(&["[", "{a: ", "- ", "{\"a\":", "&a [", "? ", "!!seq [", "[[", "a: &a [*a, "][..]);
    let nested = (opening, 1..50_000_usize, any::<bool>()).prop_map(|(open, times, closed)| {
        let closing = if closed { "]".repeat(times) } else { String::new() };
        format!("{}{closing}", open.repeat(times))
    });
    let bomb = (1..60_usize, 1..30_usize).prop_map(|(levels, width)| {
        let mut text = String::from("a0: &a0 [x, x]\n");
        for level in 1..=levels {
            let below = vec![format!("*a{}", level - 1); width].join(", ");
            text.push_str(&format!("a{level}: &a{level} [{below}]\n"));
        }
        text
    });
    let long = (1..400_000_usize, select(&["x", "\u{1}", "é", " ", "\n", "\"", "${", "a: 1\n", "- x\n"][..]))
        .prop_map(|(times, piece)| format!("steps: [{}", piece.repeat(times)));
    let source = prop_oneof![nested, bomb, long, Just(String::new())];
    check("what_grows_is_stopped", 120, source, |source| property(&source));
}

fn property(source: &str) -> Verdict {
    let limits = Limits::default();
    let document = match read(source, &limits) {
        Ok(document) => document,
        Err(error) => return judge(&error, source, true),
    };
    let canonical = document.value().to_string();
    // What is read is at most the text, once more for anchors and aliases, each as long as JSON makes it.
    if canonical.len() > 16 * limits.definition_bytes_max {
        return fail(format!("{} bytes became {}", source.len(), canonical.len()));
    }
    let again = match read(&canonical, &limits) {
        Ok(again) => again,
        Err(Error::TooLarge { .. }) if canonical.len() > limits.definition_bytes_max => return Ok(()),
        Err(error) => return fail(format!("{canonical} is not read again: {error}")),
    };
    if again.value() != document.value() {
        return fail(format!("{canonical} is read again as {}", again.value()));
    }
    match (compiled(&document), compiled(&again)) {
        (Ok(first), Ok(second)) => {
            let stored = recompile(document.value(), "k", 1).map_err(|error| error.to_string());
            let stored = stored.map(|workflow| format!("{workflow:?}"));
            if format!("{first:?}") != format!("{second:?}") || stored != Ok(format!("{first:?}")) {
                return fail(format!("{first:?} becomes {second:?} or {stored:?}"));
            }
            Ok(())
        }
        (Err(first), Err(second)) => {
            judge(&first, source, false)?;
            if told(&first) != told(&second) {
                return fail(format!("{first:?} becomes {second:?}"));
            }
            Ok(())
        }
        (first, second) => fail(format!("{first:?} becomes {second:?}")),
    }
}

fn compiled(document: &Document) -> Result<Workflow, Error> {
    compile(document, "k", 1, Limits::default().definition_steps_max, plugins::get().host.as_ref())
}

/// An error has a code that is known, and each mistake a place that is there and a sentence.
fn judge(error: &Error, source: &str, fatal: bool) -> Verdict {
    let mistakes = match error {
        Error::TooLarge { code: "definition_too_large", .. } if fatal => return Ok(()),
        Error::Invalid { code, details, .. } if *code == CODE => details,
        other => return fail(format!("an error of another kind: {other:?}")),
    };
    // YAML has more line ends than `lines` knows.
    let lines = source.split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']).count() + 1;
    let sound = |mistake: &Mistake| {
        mistake.line.is_some_and(|line| (1..=lines).contains(&line))
            && mistake.column.is_some_and(|column| column >= 1)
            && !mistake.message.is_empty()
            && !mistake.message.contains('\0')
            && mistake.message.chars().count() <= 1_001
    };
    if mistakes.is_empty() || (fatal && mistakes.len() != 1) {
        return fail(format!("the wrong number of mistakes: {error:?}"));
    }
    match mistakes.iter().find(|mistake| !sound(mistake)) {
        Some(mistake) => fail(format!("of {lines} lines: {mistake:?}")),
        None => Ok(()),
    }
}

/// The mistakes without their places, which another way of writing changes.
fn told(error: &Error) -> Vec<(String, String)> {
    let Error::Invalid { details, .. } = error else { return vec![(String::new(), error.to_string())] };
    let mut told: Vec<_> =
        details.iter().map(|mistake| (mistake.field.clone(), mistake.message.clone())).collect();
    told.sort();
    // Of more than a hundred, which ones are listed depends on the order.
    if told.len() >= 100 { Vec::new() } else { told }
}

/// What was found once stays found.
#[test]
fn what_was_found_stays_mended() {
    for source in ["\u{feff}", "&a [*a]", "? [a]\n: b", "{\"a\":1e999}", "a: 0x", "a: 1.", "a: -", "- - - x"]
    {
        property(source).unwrap();
    }
}
