//! Paths into JSON, in the bundled component: an answer, a refusal, or a limit; never a trap.

use proptest::collection::{btree_map, vec};
use proptest::prelude::{Strategy, any};
use proptest::prop_oneof;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use stepwell::domain::json::check as flaw;
use stepwell::domain::plugin::{CallContext, Fault, MapCall, Refusal};
use stepwell::domain::{TenantId, Timestamp};
use stepwell::engine::port::Plugins as _;

use crate::cases::{check, fail};
use crate::{plugins, wild};

/// What a path may cost that asks for too much: each is named, and the same on every machine.
const LIMITS: [&str; 3] = ["plugin_fuel", "plugin_memory", "plugin_output"];

fn transform(config: &Value, input: Value) -> Result<Result<Value, Refusal>, Fault> {
    let plugins = plugins::get();
    let digest = plugins.host.mapper("jsonpath").unwrap().digest;
    let context = CallContext {
        tenant: TenantId::default(),
        workflow: "w".into(),
        instance: "i".into(),
        step: "s".into(),
        attempt: 1,
        seq: 1,
        now: Timestamp::from_millis(0),
        seed: 1,
        config: config.to_string(),
        extra: json!({}),
    };
    let call = MapCall { context, input };
    plugins.runtime.block_on(plugins.host.transform(&digest, &call)).map(|answer| answer.result)
}

fn any_path() -> impl Strategy<Value = String> {
    let sound = select(
        &[
            "$.a.b[0]",
            "$..*",
            "$[?@.a > 1 && (!@.b || count(@.*) == 2)].c",
            "$['a'][-1:0:-2]",
            "$[?match(@.a, '(a|b)*c') || search(@.b, '[x-z]{2,9}')]",
            "$[?length(@) >= 2, 1, 'x', *]",
            "$..[?@..a == $..b]",
            "a.0.b",
        ][..],
    );
    let brackets =
        select(&["(", "[?(", "[?!(", "..*", "[*]", "[?@[?", "[?length(", "[0", "a.", "[?@ == "][..]);
    prop_oneof![
        6 => (sound, wild::edits()).prop_map(|(sound, edits)| wild::edited(sound, &edits)),
        2 => wild::text(),
        2 => (brackets, 1..1_500_usize).prop_map(|(piece, times)| format!("${}", piece.repeat(times))),
        2 => (1..60_usize, 1..60_usize).prop_map(|(a, n)| format!("$[?search(@.a, '{}')]", "(".repeat(a) + &"a*".repeat(n) + &")*".repeat(a))),
    ]
    .prop_map(|path| path.chars().take(4_096).collect())
}

#[test]
fn any_path_is_answered_or_refused() {
    let input = (btree_map(wild::name(), any_path(), 1..3), wild::json());
    check("any_path_is_answered_or_refused", 2_000, input, |(paths, document)| {
        match transform(&json!(paths), document) {
            Ok(Ok(Value::Object(mapped))) if mapped.len() == paths.len() => Ok(()),
            Ok(Err(refusal)) if !refusal.to_string().is_empty() => Ok(()),
            Err(fault) if LIMITS.contains(&fault.code) && !fault.transient => Ok(()),
            other => fail(format!("{other:?}")),
        }
    });
}

#[test]
fn any_configuration_is_answered_or_refused() {
    check("any_configuration_is_answered", 1_000, (wild::json(), wild::json()), |(config, document)| {
        match transform(&config, document) {
            Ok(_) => Ok(()),
            Err(fault) if LIMITS.contains(&fault.code) && !fault.transient => Ok(()),
            other => fail(format!("{other:?}")),
        }
    });
}

#[test]
fn a_plain_path_leads_where_it_says() {
    let input = (wild::json(), vec(any::<Index>(), 0..6), any::<bool>());
    check("a_plain_path_leads_where_it_says", 1_000, input, |(document, turns, dotted)| {
        // The host takes nothing that deep.
        if flaw(&document).is_err() {
            return Ok(());
        }
        let (mut value, mut path) = (&document, String::from("$"));
        for turn in &turns {
            value = match value {
                Value::Array(items) if !items.is_empty() => {
                    let at = turn.index(items.len());
                    path.push_str(&format!("[{at}]"));
                    &items[at]
                }
                Value::Object(members) if !members.is_empty() => {
                    let (name, member) = turn.get(&members.iter().collect::<Vec<_>>()).to_owned();
                    let plain = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphabetic()) && dotted;
                    // A name in quotes is written as JSON writes it.
                    path.push_str(&if plain { format!(".{name}") } else { format!("[{}]", json!(name)) });
                    member
                }
                _ => break,
            };
        }
        match transform(&json!({ "found": path }), document.clone()) {
            Ok(Ok(mapped)) if mapped["found"] == *value => Ok(()),
            Err(fault) if fault.code == "plugin_output" => Ok(()),
            other => fail(format!("{path} leads to {other:?}, not {value}")),
        }
    });
}

/// The guest once read numbers with a parser that misses the last bit of some.
#[test]
fn a_number_keeps_its_last_bit() {
    let document = json!({ "a": 3.877332584530801e256 });
    let mapped = transform(&json!({ "found": "$.a" }), document.clone()).unwrap().unwrap();
    assert_eq!(mapped["found"], document["a"]);
}
