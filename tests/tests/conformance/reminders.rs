//! Senders and tries of notes to people: written, listed, replaced, forgotten, each in its tenant.

use anyhow::Result;
use stepwell::domain::id::fresh;
use stepwell::domain::page::PageRequest;
use stepwell::domain::reminder::{Reminder, ReminderStatus};
use stepwell::domain::sender::{Security, Sender, SenderSettings};
use stepwell::engine::port::Write;
use stepwell::engine::port::outgoing::ReminderFilter;
use stepwell::engine::port::write::{InstanceGone, Named};
use stepwell_tests::db::TestDb;
use stepwell_tests::on_both_databases;

use crate::fixture::{Case, T0, apply, at};

on_both_databases!(
    senders_are_replaced_and_forgotten,
    tries_are_listed_by_instance_and_status,
    a_note_for_the_rest_replaces_the_whole,
);

fn sender(case: &Case, name: &str) -> Sender {
    Sender {
        tenant: case.tenant.clone(),
        name: name.into(),
        channel: "EMAIL".into(),
        is_default: true,
        settings: SenderSettings {
            host: Some("mail.example.org".into()),
            port: Some(465),
            security: Some(Security::Tls),
            from: Some("ž@example.org".into()),
            ..SenderSettings::default()
        },
        created_at: T0,
        updated_at: T0,
    }
}

fn reminder(case: &Case, status: ReminderStatus) -> Reminder {
    Reminder {
        id: fresh(),
        tenant: case.tenant.clone(),
        timer_id: None,
        workflow_instance_id: case.instance.id,
        step_execution_id: case.step.id,
        step_id: case.step.step_id.clone(),
        key: "k".into(),
        attempt: 1,
        sender: Some("mail".into()),
        channel: "EMAIL".into(),
        recipients: vec!["a@example.org".into(), "\"odd\"@example.org".into()],
        message: "ř\n\"quoted\"".into(),
        sent_at: at(5),
        status,
        error_message: (status == ReminderStatus::Failed).then(|| "no route".into()),
        created_at: at(6),
    }
}

async fn senders_are_replaced_and_forgotten(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let (one, two) = (Case::of("one"), Case::of("two"));
    let (first, second) = (sender(&one, "a"), sender(&one, "b"));
    let rows = [&second, &first].map(|sender| Write::UpsertSender(sender.clone()));
    apply(&*store, rows.to_vec()).await?;
    apply(&*store, vec![Write::UpsertSender(sender(&two, "a"))]).await?;
    assert_eq!(store.senders(&one.tenant).await?, [first.clone(), second.clone()]);
    let changed = Sender {
        channel: "SLACK".into(),
        is_default: false,
        settings: SenderSettings { url_secret: Some("HOOK".into()), ..SenderSettings::default() },
        updated_at: at(9),
        ..first
    };
    apply(&*store, vec![Write::UpsertSender(changed.clone())]).await?;
    let gone = Named { tenant: one.tenant.clone(), name: "b".into() };
    apply(&*store, vec![Write::DeleteSender(gone)]).await?;
    assert_eq!(store.senders(&one.tenant).await?, [changed]);
    assert_eq!(store.senders(&two.tenant).await?, [sender(&two, "a")], "another tenant's stays");
    Ok(())
}

async fn tries_are_listed_by_instance_and_status(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let (one, two) = (Case::of("one"), Case::of("two"));
    let timer = one.timer("t", at(10));
    let failed = Reminder { timer_id: Some(timer.id), ..reminder(&one, ReminderStatus::Failed) };
    let sent = reminder(&one, ReminderStatus::Sent);
    one.write(&*store, vec![Write::UpsertTimer(timer)]).await?;
    let rows = [&failed, &sent].map(|row| Write::InsertReminder(row.clone()));
    apply(&*store, rows.to_vec()).await?;
    two.write(&*store, vec![Write::InsertReminder(reminder(&two, ReminderStatus::Sent))]).await?;
    let list = async |filter: ReminderFilter, limit: u32| {
        store.reminders(&one.tenant, &filter, &PageRequest { after: None, limit }).await
    };
    assert_eq!(list(ReminderFilter::default(), 9).await?, [sent.clone(), failed.clone()], "newest first");
    let status = |status: &str| ReminderFilter { status: Some(status.into()), ..ReminderFilter::default() };
    assert_eq!(list(status("FAILED"), 9).await?, std::slice::from_ref(&failed));
    let of = |case: &Case| ReminderFilter { instance_id: Some(case.instance.id), status: None };
    assert_eq!(list(of(&one), 9).await?.len(), 2);
    assert_eq!(list(of(&two), 9).await?, [], "another tenant's");
    let after = PageRequest { after: Some(sent.id), limit: 9 };
    assert_eq!(store.reminders(&one.tenant, &ReminderFilter::default(), &after).await?, [failed]);
    let gone = InstanceGone { tenant: one.tenant.clone(), instance_id: one.instance.id };
    apply(&*store, vec![Write::DeleteInstance(gone)]).await?;
    assert_eq!(list(ReminderFilter::default(), 9).await?, [], "they go with their instance");
    assert_eq!(db.count("workflow_timer_reminders").await?, 1);
    Ok(())
}

async fn a_note_for_the_rest_replaces_the_whole(db: TestDb) -> Result<()> {
    let store = db.open().await;
    let case = Case::new();
    let mut item = case.outgoing("k", T0);
    case.write(&*store, vec![Write::InsertOutbox(item.clone())]).await?;
    (item.payload, item.attempts, item.due_at) = ("{\"recipients\":[]}".into(), 1, at(3));
    apply(&*store, vec![Write::UpdateOutbox(item.clone())]).await?;
    item.due_at = at(9);
    assert_eq!(store.claim_outbox(at(3), at(9), 9).await?, [item]);
    Ok(())
}
