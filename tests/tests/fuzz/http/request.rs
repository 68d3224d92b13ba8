//! One request: a route, and what is put into each of its places.

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::{BoxedStrategy, Just, Strategy, any};
use proptest::prop_oneof;
use proptest::sample::{Index, select};
use serde_json::{Map, Value, json};
use stepwell_tests::host::{Client, one_task};

use super::routes::Route;
use super::world::World;
use crate::wild;

/// What stands in one place of a request.
#[derive(Clone, Debug)]
enum Part {
    /// Something of this kind that is there.
    Known(Index),
    /// An id of nothing.
    Nobody(u128),
    Text(String),
}

#[derive(Clone, Debug)]
enum Body {
    None,
    Json(Value),
    Bytes(Vec<u8>),
}

/// A request that is not built yet: ids of the world are put in when it is sent.
#[derive(Clone, Debug)]
pub struct Request {
    pub route: Route,
    parts: Vec<Part>,
    /// Which of the parameters that are no part of the path are sent.
    sent: Vec<bool>,
    more: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    kind: Option<String>,
    body: Body,
}

/// Any request to any route.
pub fn requests(routes: &[Route]) -> impl Strategy<Value = Request> + use<> {
    select(routes.to_vec()).prop_flat_map(|route| {
        let count = route.parameters.len();
        let more = vec((wild::name(), wild::text()), 0..3);
        let places = (vec(part(), count), vec(prop_oneof![3 => Just(true), 1 => Just(false)], count), more);
        (places, headers(), kind(), body(&route)).prop_map(
            move |((parts, sent, more), headers, kind, body)| Request {
                route: route.clone(),
                parts,
                sent,
                more,
                headers,
                kind,
                body,
            },
        )
    })
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        4 => any::<Index>().prop_map(Part::Known),
        1 => any::<u128>().prop_map(Part::Nobody),
        3 => wild::text().prop_map(|text| Part::Text(text.chars().take(5_000).collect())),
    ]
}

/// Headers beside those that the document has.
fn headers() -> impl Strategy<Value = Vec<(String, String)>> {
    let name = select(
        &[
            "X-Stepwell-Tenant",
            "Authorization",
            "traceparent",
            "tracestate",
            "Idempotency-Key",
            "X-Lock-Token",
            "Accept",
            "Content-Encoding",
            "Cookie",
            "X-Whatever",
        ][..],
    );
    let sound = select(
        &[
            "default",
            "other",
            "Bearer stw_nothing",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ][..],
    );
    let value = prop_oneof![sound.prop_map(str::to_owned), wild::text()];
    let some = vec((name.prop_map(str::to_owned), value), 1..4);
    prop_oneof![5 => Just(Vec::new()), 1 => some]
}

fn kind() -> impl Strategy<Value = Option<String>> {
    let odd = select(
        &["text/plain", "application/xml", "multipart/form-data", "application/json; charset=utf-16", "x"][..],
    );
    of(
        prop_oneof![6 => Just("application/json".to_owned()), 1 => odd.prop_map(str::to_owned), 1 => wild::text()],
    )
}

fn body(route: &Route) -> BoxedStrategy<Body> {
    let sound = sound(route);
    let broken = (sound.clone(), wild::edits())
        .prop_map(|(body, edits)| Body::Bytes(wild::edited(&written(&body), &edits).into_bytes()));
    let torn = (sound.clone(), any::<Index>(), any::<u8>()).prop_map(|(body, at, byte)| {
        let mut bytes = written(&body).into_bytes();
        bytes.insert(at.index(bytes.len() + 1), byte);
        Body::Bytes(bytes)
    });
    let deep =
        (1..3_000_usize, select(&["[", "{\"a\":"][..]), select(&["", "{\"context\":", "{\"payload\":"][..]))
            .prop_map(|(levels, open, before)| {
                Body::Bytes(format!("{before}{}", open.repeat(levels)).into_bytes())
            });
    let odds = [4, 3, 1, 1, 1, 2, 1];
    prop_oneof![
        odds[0] => sound,
        odds[1] => broken,
        odds[2] => torn,
        odds[3] => deep,
        odds[4] => vec(any::<u8>(), 0..200).prop_map(Body::Bytes),
        odds[5] => wild::json().prop_map(Body::Json),
        odds[6] => Just(Body::None),
    ]
    .boxed()
}

/// A body of the right shape, more or less.
fn sound(route: &Route) -> BoxedStrategy<Body> {
    if route.body_types.is_empty() {
        return Just(Body::None).boxed();
    }
    if route.body_types.iter().all(|kind| kind != "application/json") {
        let workflow =
            one_task("work", &["input: {x: '${workflow.context.a}', y: [1, 2.5e3]}", "timeout: 10m"]);
        return Just(Body::Bytes(workflow.into_bytes())).boxed();
    }
    let member = |(name, schema): (&String, &Value)| {
        let kind =
            schema["type"].as_str().or_else(|| schema["type"][0].as_str()).unwrap_or_default().to_owned();
        let name = name.clone();
        of(fitting(&name, &kind)).prop_map(move |value| value.map(|value| (name.clone(), value))).boxed()
    };
    let members: Vec<_> = route.members.iter().map(member).collect();
    members
        .prop_map(|members| Body::Json(Value::Object(members.into_iter().flatten().collect::<Map<_, _>>())))
        .boxed()
}

/// A value for a member: of its type more often than not.
fn fitting(name: &str, kind: &str) -> BoxedStrategy<Value> {
    let fits = match (name, kind) {
        ("role", _) => select(&["worker", "sender", "operator", "admin"][..]).prop_map(Value::from).boxed(),
        ("expiresAt", _) => {
            let odd = ["0000-01-01T00:00:00+23:59", "9999-12-31T23:59:60-23:59", "2030-01-01T00:00:00Z"];
            select(odd.to_vec()).prop_map(Value::from).boxed()
        }
        ("version", _) => prop_oneof![-2_i64..3, any::<i64>()].prop_map(Value::from).boxed(),
        (_, "string") => wild::text().prop_map(Value::from).boxed(),
        (_, "integer") => any::<i64>().prop_map(Value::from).boxed(),
        (_, "number") => any::<f64>().prop_map(Value::from).boxed(),
        (_, "boolean") => any::<bool>().prop_map(Value::from).boxed(),
        (_, "object") => vec((wild::name(), wild::json()), 0..4)
            .prop_map(|members| Value::Object(members.into_iter().collect()))
            .boxed(),
        _ => wild::json().boxed(),
    };
    prop_oneof![5 => fits, 1 => wild::json()].boxed()
}

fn written(body: &Body) -> String {
    match body {
        Body::None => String::new(),
        Body::Json(value) => value.to_string(),
        Body::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

impl Request {
    /// The request, unless it is one that no client can send.
    pub fn build(&self, client: &Client, world: &World) -> Option<reqwest::Request> {
        let mut path = self.route.path.clone();
        let mut query: Vec<(String, String)> = Vec::new();
        let mut headers = self.headers.clone();
        for (at, (place, name)) in self.route.parameters.iter().enumerate() {
            let value = self.put(at, name, world);
            match place.as_str() {
                // Nothing between two slashes is another route.
                "path" if value.is_empty() => return None,
                "path" => path = path.replace(&format!("{{{name}}}"), &encoded(&value)),
                _ if !self.sent[at] => {}
                "query" => query.push((name.clone(), value)),
                _ => headers.push((name.clone(), value)),
            }
        }
        query.extend(self.more.iter().cloned());
        let query: Vec<String> =
            query.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
        let mut request = client.request(&self.route.method, &format!("{path}?{}", query.join("&")));
        let kind = self.kind.iter().map(|kind| ("content-type".to_owned(), kind.clone()));
        for (name, value) in headers.into_iter().chain(kind) {
            // As bytes: what is not ASCII goes out as it is.
            let Ok(value) = reqwest::header::HeaderValue::from_bytes(value.as_bytes()) else { continue };
            request = request.header(name, value);
        }
        let built = match &self.body {
            Body::None => request.build(),
            Body::Json(value) => request.body(value.to_string()).build(),
            Body::Bytes(bytes) => request.body(bytes.clone()).build(),
        };
        built
            .ok()
            .filter(|built| built.url().path().matches('/').count() == self.route.path.matches('/').count())
    }

    /// What stands in a parameter's place.
    fn put(&self, at: usize, name: &str, world: &World) -> String {
        let index = match &self.parts[at] {
            Part::Known(index) => index,
            Part::Nobody(number) => return uuid::Uuid::from_u128(*number).to_string(),
            Part::Text(text) => return text.clone(),
        };
        let id_of_task = |path: &str| path.contains("tasks/");
        match name {
            "key" | "workflow" => ["one", "two"][index.index(2)].to_owned(),
            "version" => (index.index(4)).to_string(),
            "taskType" => ["work", "other", "work,other"][index.index(3)].to_owned(),
            "topic" => "orders".to_owned(),
            "nameOrDigest" => ["EXTERNAL_TASK", "jsonpath"][index.index(2)].to_owned(),
            "X-Worker-Id" | "workerId" => "w".to_owned(),
            "X-Lock-Token" => index.get(&world.tasks).1.clone(),
            "id" if id_of_task(&self.route.path) => index.get(&world.tasks).0.clone(),
            "id" if self.route.path.contains("tokens/") => index.get(&world.tokens).clone(),
            "id" | "instance" | "after" => index.get(&world.instances).clone(),
            _ => ["1", "true", "waiting", "PENDING", "17"][index.index(5)].to_owned(),
        }
    }
}

/// Percent-encoded, except for letters and digits; `%` stays now and then, to be malformed.
fn encoded(text: &str) -> String {
    if text.starts_with('%') {
        return text.chars().filter(char::is_ascii_graphic).filter(|c| !"/?#".contains(*c)).collect();
    }
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// JSON that a number makes odd is still JSON.
#[test]
fn a_body_is_written_as_it_is() {
    assert_eq!(written(&Body::Json(json!({ "a": 1.0 }))), r#"{"a":1.0}"#);
    assert_eq!(encoded("a/b c%"), "a%2Fb%20c%25");
    assert_eq!(encoded("%ff/"), "%ff");
}
