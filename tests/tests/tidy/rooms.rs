//! Who may name whom inside the host.

use crate::code;
use crate::tree::File;

/// Each library that has a room, and the room.
const LIBRARIES: [(&str, &str); 6] = [
    ("wasmtime", "host/src/plugin/"),
    ("wasmtime_wasi", "host/src/plugin/"),
    ("sqlx", "host/src/store/"),
    ("axum", "host/src/api/"),
    ("utoipa_axum", "host/src/api/"),
    ("rdkafka", "host/src/dispatch/kafka/"),
];

/// Each room, and what it must not know.
const ABOVE: [(&str, &[&str]); 6] = [
    (
        "domain",
        &[
            "engine",
            "plugin",
            "store",
            "dispatch",
            "api",
            "cli",
            "node",
            "boot",
            "settings",
            "telemetry",
            "metrics",
        ],
    ),
    ("engine", &["plugin", "store", "dispatch", "api", "cli", "node", "boot", "settings", "telemetry"]),
    ("plugin", &["store", "dispatch", "api", "cli", "node", "boot"]),
    ("store", &["plugin", "dispatch", "api", "cli", "node", "boot"]),
    ("dispatch", &["plugin", "store", "api", "cli", "boot"]),
    ("api", &["store", "cli", "boot"]),
];

/// Libraries that are named outside of their room.
pub(crate) fn libraries(file: &File) -> Vec<String> {
    let code = code::strip(&file.text);
    let mut found = Vec::new();
    for (line, name, _) in code::names(&code) {
        if let Some((library, room)) = LIBRARIES.iter().find(|(library, _)| *library == name)
            && !file.path.starts_with(room)
        {
            found.push(format!("{}:{line} names {library}, which belongs to {room}", file.path));
        }
    }
    found
}

/// Rooms that are named from below.
pub(crate) fn direction(file: &File) -> Vec<String> {
    let inside = file.path.strip_prefix("host/src/").unwrap_or_default();
    let room = inside.split(['/', '.']).next().unwrap_or_default();
    let Some((_, above)) = ABOVE.iter().find(|(name, _)| *name == room) else { return Vec::new() };
    let code = code::strip(&file.text);
    let mut found = Vec::new();
    for (line, name, rest) in code::names(&code) {
        if name != "crate" {
            continue;
        }
        for other in named(rest) {
            if above.contains(&other) {
                found.push(format!("{}:{line} names crate::{other}, which {room} must not know", file.path));
            }
        }
    }
    found
}

/// What comes directly after `crate`: of `::a::b` it is `a`, of `::{a::b, c}` it is `a` and `c`.
fn named(rest: &str) -> Vec<&str> {
    let Some(path) = rest.trim_start().strip_prefix("::") else { return Vec::new() };
    let path = path.trim_start();
    let Some(group) = path.strip_prefix('{') else {
        return code::names(path).first().map(|(_, name, _)| *name).into_iter().collect();
    };
    let mut found = Vec::new();
    let mut depth = 0;
    let mut first = true;
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => first = true,
            _ if first && depth == 0 && (c.is_alphanumeric() || c == '_') => {
                found.extend(code::names(&group[at..]).first().map(|(_, name, _)| *name));
                first = false;
            }
            _ => {}
        }
    }
    found
}

#[test]
fn a_library_outside_of_its_room_is_found() {
    let count = |path: &str, text: &str| libraries(&File::new(path, text)).len();
    assert_eq!(count("host/src/engine/x.rs", "use sqlx::Row;"), 1);
    assert_eq!(count("host/src/api/x.rs", "fn f() { wasmtime::Engine::default(); }"), 1);
    assert_eq!(count("host/src/plugin/x.rs", "use wasmtime::Engine;"), 0);
    assert_eq!(count("host/src/dispatch/outbox.rs", "use rdkafka::ClientConfig;"), 1);
    assert_eq!(count("host/src/dispatch/kafka/x.rs", "use rdkafka::ClientConfig;"), 0);
    assert_eq!(count("host/src/cli/x.rs", "// axum\nlet sqlx_like = \"wasmtime\";"), 0);
}

#[test]
fn a_way_back_is_found() {
    let count = |path: &str, text: &str| direction(&File::new(path, text)).len();
    assert_eq!(count("host/src/engine/x.rs", "use crate::store::Sqlite;"), 1);
    assert_eq!(count("host/src/engine/x.rs", "use crate::{domain::{api, id}, store::{a, b}, cli};"), 2);
    assert_eq!(count("host/src/engine/x.rs", "use crate::engine::port::store::Store;"), 0);
    assert_eq!(count("host/src/domain/id.rs", "fn f(e: crate::engine::Error) {}"), 1);
    assert_eq!(count("host/src/dispatch/hub.rs", "use crate::api;"), 1);
    assert_eq!(count("host/src/cli/serve.rs", "use crate::{boot, api};"), 0);
    assert_eq!(count("host/src/domain/id.rs", "// crate::engine"), 0);
}
