//! The golden calls of a descriptor, run when a component is loaded: each twice, to see that it is a pure function.

use serde_json::{Value, json};

use super::call::{Caller, Request, Response, call};
use super::engine::Runtime;
use super::loaded::{Loaded, Pre};
use super::{LoadError, convert, verdict};
use crate::domain::plugin::{CallContext, Example, PluginLimits, Usage};
use crate::domain::{TenantId, Timestamp};

/// Examples of one component.
const EXAMPLES_MAX: usize = 50;

/// The moment at which all examples happen: 2026-01-01.
const NOW_MS: i64 = 1_767_225_600_000;

/// Runs every example; the first that goes wrong is the error.
pub(super) async fn run(
    runtime: &Runtime,
    loaded: &Loaded,
    limits: &PluginLimits,
) -> Result<Vec<(String, Usage)>, LoadError> {
    let examples = &loaded.descriptor.examples;
    if examples.len() > EXAMPLES_MAX {
        let message = format!("its descriptor has {} examples; the limit is {EXAMPLES_MAX}", examples.len());
        return Err(LoadError::new("descriptor_invalid", message));
    }
    let mut used = Vec::with_capacity(examples.len());
    for example in examples {
        let name = &example.name;
        let failed =
            |reason: String| LoadError::new("example_failed", format!("its example \"{name}\" {reason}"));
        if let Some(error) =
            loaded.config.as_ref().and_then(|config| config.iter_errors(&example.config).next())
        {
            return Err(failed(format!("has a configuration that its own schema refuses: {error}")));
        }
        let (answer, usage) = once(runtime, loaded, limits, example).await.map_err(failed)?;
        let (again, _) = once(runtime, loaded, limits, example).await.map_err(failed)?;
        if answer != again {
            let message =
                format!("its example \"{name}\" gave two answers to the same call: {answer} and {again}");
            return Err(LoadError::new("example_not_deterministic", message));
        }
        if let Some(place) = difference(&example.expect, &answer, "") {
            return Err(failed(format!("did not give what it promises at \"{place}\": {answer}")));
        }
        used.push((name.clone(), usage));
    }
    Ok(used)
}

async fn once(
    runtime: &Runtime,
    loaded: &Loaded,
    limits: &PluginLimits,
    example: &Example,
) -> Result<(Value, Usage), String> {
    let context = CallContext {
        tenant: TenantId::default(),
        workflow: "example".into(),
        instance: "example".into(),
        step: "example".into(),
        attempt: 1,
        seq: 0,
        now: Timestamp::from_millis(NOW_MS),
        seed: 0,
        config: example.config.to_string(),
        extra: json!({}),
    };
    let input = example.input.to_string();
    let request = match *loaded.pre {
        Pre::Step(_) => Request::Start { context: convert::context(&context), input },
        Pre::Mapper(_) => Request::Transform { context: convert::map_context(&context), input },
    };
    let faulty = |fault| format!("went wrong: {fault}");
    let (response, usage) = call(runtime, loaded, limits, Caller::host(), request).await.map_err(faulty)?;
    let answer = match response {
        Response::Transition(Ok(answer)) => {
            let transition = verdict::transition(answer, &loaded.descriptor, limits).map_err(faulty)?;
            serde_json::to_value(transition).map_err(|error| error.to_string())?
        }
        Response::Mapped(Ok(output)) => verdict::mapped(&output).map_err(faulty)?,
        Response::Transition(Err(error)) | Response::Mapped(Err(error)) => {
            json!({ "refusal": convert::refusal(error) })
        }
        Response::Described(_) => return Err("gave an answer of another kind".into()),
    };
    Ok((answer, usage))
}

/// Where an answer does not have what is expected; members that are not expected are not looked at.
fn difference(expected: &Value, answer: &Value, place: &str) -> Option<String> {
    match (expected, answer) {
        (Value::Object(expected), Value::Object(answer)) => expected.iter().find_map(|(name, expected)| {
            let place = format!("{place}/{name}");
            match answer.get(name) {
                Some(answer) => difference(expected, answer, &place),
                None => Some(place),
            }
        }),
        (Value::Array(expected), Value::Array(answer)) if expected.len() == answer.len() => {
            let pairs = expected.iter().zip(answer).enumerate();
            pairs
                .into_iter()
                .find_map(|(at, (expected, answer))| difference(expected, answer, &format!("{place}/{at}")))
        }
        // An example without `expect` still shows that the call works.
        (Value::Null, _) if place.is_empty() => None,
        (expected, answer) => (expected != answer).then(|| place.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expectation_is_a_part_of_the_answer() {
        let answer = json!({ "a": { "b": [1, { "c": 2, "d": 3 }] } });
        assert_eq!(difference(&json!({ "a": { "b": [1, { "c": 2 }] } }), &answer, ""), None);
        assert_eq!(
            difference(&json!({ "a": { "b": [1, { "c": 9 }] } }), &answer, ""),
            Some("/a/b/1/c".into())
        );
        assert_eq!(difference(&json!({ "a": { "b": [1] } }), &answer, ""), Some("/a/b".into()));
        assert_eq!(difference(&json!({ "x": 1 }), &answer, ""), Some("/x".into()));
        assert_eq!(difference(&Value::Null, &answer, ""), None);
    }
}
