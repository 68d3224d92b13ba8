//! Notes by mail, to a real mail server: headers and text, log-in and encryption, refusals, and a server that is away.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use stepwell::domain::address::AllowHosts;
use stepwell_tests::db::TestDb;
use stepwell_tests::host::{Host, step, until};
use stepwell_tests::mail::MailServer;

use crate::requests::found_in;

const PASSWORD: &str = "hush-1f77e3";

async fn host(db: &TestDb, port: u16) -> Result<Host> {
    let list = AllowHosts::parse(&format!("localhost:{port}")).map_err(anyhow::Error::msg)?;
    Host::start_with(db, |settings| settings.allow_hosts = list).await
}

async fn sender(host: &Host, body: &Value) -> Result<()> {
    let set = host.client.send("PUT", "/api/v1/senders/mail", body.to_string()).await?;
    assert!([200, 201].contains(&set.status), "{}", set.body);
    Ok(())
}

fn plain(port: u16) -> Value {
    json!({ "channel": "EMAIL", "host": "localhost", "port": port, "security": "NONE", "from": "robot@example.org" })
}

/// Sends a mail that must arrive; the instance when it has ended.
async fn mail(host: &Host, recipients: &[&str], subject: &str, attempts: u32) -> Result<Value> {
    let config = json!({
        "channel": "EMAIL", "recipients": recipients, "subject": subject, "required": true,
        "message": "Dear ${workflow.context.name},\nplease approve.\n.\nRegards",
        "retry": { "maxAttempts": attempts, "initialMs": 20, "maxMs": 200 },
    });
    let steps = json!([{ "id": "tell", "type": "REMINDER", "config": config, "onError": "end" }]);
    let source = json!({ "steps": steps }).to_string();
    // The same again makes no new version.
    host.client.send("POST", "/api/v1/workflows?key=w", source).await?;
    let id = host.client.start("w", json!({ "name": "Jiří" })).await?;
    host.client.instance_is(&id, "completed").await
}

async fn a_mail_arrives_with_its_headers_and_text(db: TestDb) -> Result<()> {
    let Some(server) = MailServer::start("NONE", 0, None).await? else { return Ok(()) };
    let host = host(&db, server.port).await?;
    sender(&host, &plain(server.port)).await?;
    let subject = "Approval pending – ticket 4711 of a customer with a name that is long enough to be folded";
    let instance = mail(&host, &["ada@example.org", "bob@example.net"], subject, 1).await?;
    assert_eq!(step(&instance, "tell")["output"]["sent"], 1, "{instance}");
    let mails = server.mails();
    let to: Vec<_> = mails.iter().map(|mail| mail.to.join(",")).collect();
    assert_eq!(to, ["ada@example.org", "bob@example.net"], "each has an envelope of their own");
    let first = &mails[0];
    assert_eq!(first.sender, "robot@example.org");
    assert_eq!(first.header("From").as_deref(), Some("robot@example.org"));
    assert_eq!(first.header("To").as_deref(), Some("ada@example.org, bob@example.net"));
    assert!(first.header("Subject").is_some_and(|text| text.contains("=?utf-8?")), "{}", first.text);
    assert_eq!(first.header("Auto-Submitted").as_deref(), Some("auto-generated"));
    assert!(first.header("Date").is_some() && first.header("Message-ID") == mails[1].header("Message-ID"));
    assert!(first.text.contains("Jiř=C3=AD") || first.body().contains("Ji=C5=99=C3=AD"), "{}", first.text);
    assert!(!first.tls && first.login.is_empty());
    host.stop().await;
    Ok(())
}

async fn a_log_in_is_encrypted_and_its_password_is_nowhere(db: TestDb) -> Result<()> {
    for security in ["STARTTLS", "TLS"] {
        let login = Some(("robot", PASSWORD));
        let Some(server) = MailServer::start(security, 0, login).await? else { return Ok(()) };
        let host = host(&db, server.port).await?;
        let place = format!("localhost:{}", server.port);
        let secret = |value: &str| json!({ "value": value, "hosts": [place] }).to_string();
        let put = async |value: &str| host.client.send("PUT", "/api/v1/secrets/SMTP", secret(value)).await;
        put(PASSWORD).await?;
        let mut settings = plain(server.port);
        settings["security"] = json!(security);
        (settings["user"], settings["passwordSecret"]) = (json!("robot"), json!("SMTP"));
        // Nobody vouches for its certificate yet.
        sender(&host, &settings).await?;
        let instance = mail(&host, &["ada@example.org"], "s", 2).await?;
        let error = step(&instance, "tell")["error"]["message"].to_string();
        assert!(error.contains("certificate") || error.contains("UnknownIssuer"), "{error}");
        settings["caCertificate"] = json!(server.ca);
        sender(&host, &settings).await?;
        let instance = mail(&host, &["ada@example.org"], "s", 2).await?;
        assert_eq!(step(&instance, "tell")["output"]["sent"], 1, "{instance}");
        let [mail_taken] = &server.mails()[..] else { panic!("one mail") };
        assert!(mail_taken.tls && mail_taken.login == "robot", "{mail_taken:?}");
        // A wrong password is not taken, and not told.
        put(&format!("{PASSWORD}-wrong")).await?;
        let instance = mail(&host, &["ada@example.org"], "s", 1).await?;
        let error = step(&instance, "tell")["error"]["message"].to_string();
        assert!(error.contains("the log-in") && !error.contains(PASSWORD), "{error}");
        // One that is not granted to the server is not sent to it.
        let elsewhere = json!({ "value": PASSWORD, "hosts": ["mail.example.org"] });
        host.client.send("PUT", "/api/v1/secrets/SMTP", elsewhere.to_string()).await?.expect(200)?;
        let instance = mail(&host, &["ada@example.org"], "s", 1).await?;
        assert!(
            step(&instance, "tell")["error"]["message"].to_string().contains("not granted"),
            "{instance}"
        );
        assert_eq!(found_in(&db, PASSWORD).await?, Vec::<String>::new());
        host.stop().await;
    }
    Ok(())
}

async fn one_who_is_refused_does_not_keep_it_from_the_others(db: TestDb) -> Result<()> {
    let Some(server) = MailServer::start("NONE", 0, None).await? else { return Ok(()) };
    let host = host(&db, server.port).await?;
    sender(&host, &plain(server.port)).await?;
    let people = ["refused@example.org", "ada@example.org", "busy@example.org", "bob@example.org"];
    let instance = mail(&host, &people, "s", 3).await?;
    assert_eq!(step(&instance, "tell")["error"]["code"], "reminder_failed");
    let to: Vec<_> = server.mails().iter().map(|mail| mail.to.join(",")).collect();
    assert_eq!(to, ["ada@example.org", "bob@example.org"], "once each");
    let id = instance["id"].as_str().context("an id")?;
    let rows = host.client.get(&format!("/api/v1/reminders?instance={id}")).await?.expect(200)?;
    let rows = rows["items"].as_array().cloned().unwrap_or_default();
    let failed: Vec<_> = rows.iter().filter(|row| row["status"] == "FAILED").collect();
    assert_eq!(failed.len(), 3, "{rows:?}");
    assert_eq!(failed[0]["recipients"], json!(["refused@example.org", "busy@example.org"]));
    let why = failed[0]["errorMessage"].as_str().unwrap_or_default();
    assert!(why.contains("nobody of that name") && why.contains("come back later"), "{why}");
    assert_eq!(
        host.client.get("/api/v1/outbox/dead-letters").await?.expect(200)?["items"][0]["kind"],
        "notify"
    );
    host.stop().await;
    Ok(())
}

async fn a_server_that_was_away_gets_it_when_it_is_back(db: TestDb) -> Result<()> {
    let Some(server) = MailServer::start("NONE", 0, None).await? else { return Ok(()) };
    let port = server.port;
    drop(server);
    let host = host(&db, port).await?;
    sender(&host, &plain(port)).await?;
    let config = json!({
        "channel": "EMAIL", "recipients": ["ada@example.org"], "message": "m", "required": true,
        "retry": { "maxAttempts": 20, "initialMs": 100, "maxMs": 2_000 },
    });
    host.client
        .deploy("w", json!({ "steps": [{ "id": "tell", "type": "REMINDER", "config": config }] }).to_string())
        .await?;
    let id = host.client.start("w", json!({})).await?;
    until("it has failed", async || {
        let failed = host.client.get("/api/v1/reminders?status=FAILED").await?.expect(200)?;
        Ok(failed["items"].as_array().is_some_and(|rows| !rows.is_empty()))
    })
    .await?;
    let Some(server) = MailServer::start("NONE", port, None).await? else { return Ok(()) };
    server.wait_for(1).await?;
    host.client.instance_is(&id, "completed").await?;
    let sent = host.client.get(&format!("/api/v1/reminders?status=SENT&instance={id}")).await?.expect(200)?;
    assert_eq!(sent["items"].as_array().map(Vec::len), Some(1), "{sent}");
    host.stop().await;
    Ok(())
}

/// No sender, a sender of another channel, a server that is a neighbour, and one that speaks in the open.
async fn senders_that_cannot_send_say_why(db: TestDb) -> Result<()> {
    let Some(server) = MailServer::start("NONE", 0, None).await? else { return Ok(()) };
    let host = Host::start(&db).await?;
    let why = async |host: &Host| -> Result<String> {
        let instance = mail(host, &["ada@example.org"], "s", 1).await?;
        Ok(step(&instance, "tell")["error"]["message"].to_string())
    };
    assert!(why(&host).await?.contains("no sender for mail"));
    sender(&host, &plain(server.port)).await?;
    assert!(why(&host).await?.contains("not an address of the internet"));
    let mut open = plain(25);
    open["host"] = json!("192.0.32.7");
    sender(&host, &open).await?;
    assert!(why(&host).await?.contains("without encryption"));
    assert!(server.mails().is_empty());
    host.stop().await;
    Ok(())
}

stepwell_tests::on_both_databases!(
    a_mail_arrives_with_its_headers_and_text,
    a_log_in_is_encrypted_and_its_password_is_nowhere,
    one_who_is_refused_does_not_keep_it_from_the_others,
    a_server_that_was_away_gets_it_when_it_is_back,
    senders_that_cannot_send_say_why,
);
