//! The rules of this repository, held: each test is one rule, and says what to do when it is broken.
//!
//! A rule is a function from text to complaints, so that it can be shown to fail; the tests below apply it to
//! the tree.

mod code;
mod documents;
mod files;
mod rooms;
mod sql;
mod tree;
mod wit;

use tree::File;

/// Fails with all complaints at once.
#[track_caller]
fn hold(rule: &str, complaints: Vec<String>) {
    assert!(complaints.is_empty(), "{rule}\n  {}\n", complaints.join("\n  "));
}

fn every_rust_file() -> Vec<File> {
    tree::files(&["host", "plugins", "examples", "tests"], "rs")
}

#[test]
fn only_its_room_names_a_library() {
    let found = tree::files(&["host/src"], "rs").iter().flat_map(rooms::libraries).collect();
    hold("A library has one room: ask for what you need through a trait in host/src/engine/port.", found);
}

#[test]
fn data_goes_through_the_rooms_in_one_direction() {
    let found = tree::files(&["host/src"], "rs").iter().flat_map(rooms::direction).collect();
    hold("A room knows only the rooms below it: move the code, or go through a trait.", found);
}

#[test]
fn every_module_says_what_it_is_for() {
    let found = every_rust_file().iter().flat_map(files::doc).collect();
    hold("The first line of a Rust file is `//! …`: say in a sentence what it is for.", found);
}

#[test]
fn no_file_is_longer_than_one_can_read() {
    let found = every_rust_file().iter().flat_map(files::length).collect();
    hold("A Rust file does one thing: cut it in two.", found);
}

#[test]
fn nothing_is_left_to_do() {
    let found = every_rust_file().iter().flat_map(files::unfinished).collect();
    hold("`todo!`, `unimplemented!` and `dbg!` are for the desk: finish it, or remove it.", found);
}

#[test]
fn lints_are_expected_not_allowed() {
    let found = every_rust_file().iter().flat_map(files::allowed).collect();
    hold("Write `#[expect(lint, reason = \"…\")]`: it tells why, and when it is no longer needed.", found);
}

#[test]
fn migrations_are_twins() {
    let postgres = tree::names("migrations/postgres", ".sql");
    let sqlite = tree::names("migrations/sqlite", ".sql");
    assert!(!postgres.is_empty(), "there are no migrations in migrations/postgres");
    hold(
        "Each migration has a twin of the same name for the other database.",
        sql::twins(&postgres, &sqlite),
    );
}

#[test]
fn statements_are_twins() {
    let postgres = tree::names("host/src/store/sql", ".pg.sql");
    let sqlite = tree::names("host/src/store/sql", ".lite.sql");
    assert!(!postgres.is_empty(), "there are no statements in host/src/store/sql");
    let found = sql::statements(&postgres, &sqlite);
    hold("A statement is there for both databases, or stands in the list in tests/tests/tidy/sql.rs.", found);
}

#[test]
fn time_is_a_parameter_in_sql() {
    let found = tree::files(&["host", "migrations"], "sql").iter().flat_map(sql::clock).collect();
    hold("The database's clock is not the engine's: pass the time as a parameter.", found);
}

#[test]
fn every_item_of_the_contract_is_documented() {
    let files = tree::files(&["wit"], "wit");
    assert!(!files.is_empty(), "there is no contract in wit/");
    hold(
        "The contract is read by strangers: put `/// …` above the item.",
        files.iter().flat_map(wit::documented).collect(),
    );
}

#[test]
fn documents_name_files_that_are_there() {
    let documents = ["ARCHITECTURE.md", "CONTRIBUTING.md"].map(tree::read);
    let found = documents.iter().flat_map(|file| documents::paths(file, tree::exists)).collect();
    hold("A document names a file that is not there: correct the name.", found);
}
