//! Which component serves a name: the newest, from a folder, from the database, from the binary.

use std::sync::Arc;

use serde_json::json;
use stepwell::domain::plugin::{LimitOverrides, PluginKind, StoredPlugin};
use stepwell::domain::{Digest, Timestamp};
use stepwell::engine::port::Plugins as _;
use stepwell_tests::guests;

use crate::kit::{Shelf, fault, host, host_with, mode, output, patient, served};

fn stored(bytes: &[u8], kind: PluginKind, name: &str, at: i64) -> StoredPlugin {
    StoredPlugin {
        digest: Digest::of(bytes),
        kind,
        types: vec![name.into()],
        descriptor: json!({}),
        created_at: Timestamp::from_millis(at),
    }
}

fn with_shelf(shelf: &Arc<Shelf>) -> Arc<stepwell::plugin::PluginHost> {
    host_with(LimitOverrides { default: patient(), ..Default::default() }, shelf.clone())
}

#[tokio::test]
async fn the_newest_component_serves_a_name_and_the_old_one_can_still_be_called() {
    let host = host();
    let broken = served(&host, guests::moody_broken()).await;
    let mended = served(&host, guests::moody_mended()).await;
    assert_eq!(host.step_type("MOODY").map(|served| served.digest), Some(mended.clone()));
    assert_eq!(host.list().len(), 2);
    assert!(host.info(&broken.0).is_some_and(|info| info.serving.is_empty()));
    assert!(host.info("MOODY").is_some_and(|info| info.digest == mended && info.serving == ["MOODY"]));
    assert!(host.info(mended.short()).is_some_and(|info| info.digest == mended));
    assert!(host.call_step(&broken, &crate::kit::start(&json!({}), json!({}))).await.is_ok());
}

#[tokio::test]
async fn a_component_that_another_host_stored_is_fetched_for_a_call() {
    let shelf = Arc::new(Shelf::default());
    let host = with_shelf(&shelf);
    let (bytes, lying) = (guests::hostile(), Digest::of(b"lying"));
    let digest = Digest::of(&bytes);
    shelf.put(lying.clone(), bytes.clone());
    shelf.put(digest.clone(), bytes);
    assert_eq!(output(&host, &digest, &mode("fine", 0)).await, json!({ "from": "before" }));
    assert!(host.step_type("HOSTILE").is_none(), "it serves no name by being called");
    assert_eq!(fault(&host, &lying, &mode("fine", 0)).await, ("plugin_missing", false));
}

#[tokio::test]
async fn what_came_last_into_the_database_is_served() {
    let shelf = Arc::new(Shelf::default());
    let host = with_shelf(&shelf);
    let (broken, mended, mapper) = (guests::moody_broken(), guests::moody_mended(), guests::moody_mapper());
    for bytes in [&broken, &mended, &mapper] {
        shelf.put(Digest::of(bytes), bytes.clone());
    }
    let all = vec![
        stored(&mended, PluginKind::Step, "MOODY", 2),
        stored(&broken, PluginKind::Step, "MOODY", 1),
        stored(&mapper, PluginKind::Mapper, "moody-mapper", 1),
        stored(b"gone", PluginKind::Step, "GONE", 1),
    ];
    let failed = host.sync(all.clone()).await;
    assert_eq!(failed.iter().map(|(digest, _)| digest.clone()).collect::<Vec<_>>(), [Digest::of(b"gone")]);
    assert_eq!(host.step_type("MOODY").map(|served| served.digest), Some(Digest::of(&mended)));
    assert_eq!(host.mapper("moody-mapper").map(|served| served.digest), Some(Digest::of(&mapper)));
    assert_eq!(host.list().len(), 2, "what serves nothing is not loaded");
    assert_eq!(host.step_type_names(), ["MOODY"]);
    host.sync(vec![stored(&broken, PluginKind::Step, "MOODY", 3)]).await;
    assert_eq!(host.step_type("MOODY").map(|served| served.digest), Some(Digest::of(&broken)));
}

#[tokio::test]
async fn a_folder_s_new_and_changed_files_are_loaded_once() {
    let dir = tempfile::tempdir().unwrap();
    let host = host();
    let file = dir.path().join("moody.wasm");
    std::fs::write(&file, guests::moody_broken()).unwrap();
    std::fs::write(dir.path().join("notes.txt"), "not a plugin").unwrap();
    std::fs::write(dir.path().join("bad.wasm"), "bad").unwrap();
    let scan = host.scan_folder(dir.path()).await.unwrap();
    assert_eq!((scan.loaded.len(), scan.failed.len()), (1, 1));
    assert_eq!(scan.failed[0].1.code, "component_not_wasm");
    let scan = host.scan_folder(dir.path()).await.unwrap();
    assert_eq!((scan.loaded.len(), scan.failed.len()), (0, 0), "nothing changed");
    let before = std::fs::metadata(&file).unwrap().modified().unwrap();
    std::fs::write(&file, guests::moody_mended()).unwrap();
    // A file system with coarse times would not tell two writes at once apart.
    let written = std::fs::File::options().write(true).open(&file).unwrap();
    written.set_modified(before + std::time::Duration::from_secs(10)).unwrap();
    let scan = host.scan_folder(dir.path()).await.unwrap();
    assert_eq!(scan.loaded.len(), 1);
    assert_eq!(
        host.step_type("MOODY").map(|served| served.digest),
        Some(Digest::of(&guests::moody_mended()))
    );
    assert!(host.scan_folder(&dir.path().join("nowhere")).await.is_err());
}
