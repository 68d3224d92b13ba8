//! A note as a mail: the server's address checked before anything connects to it, the password kept to itself.

use std::error::Error as StdError;
use std::net::SocketAddr;
use std::time::{Duration, UNIX_EPOCH};

use lettre::address::{Address, Envelope};
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message, SinglePart};
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, Certificate, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use tokio::time::{Instant, timeout_at};

use super::notify::{Note, TRY_MAX};
use super::resolver::{Forbidden, look_up};
use super::reveal::Revealed;
use super::{CONNECT_MAX, Courier, Trouble};
use crate::domain::address::is_public;
use crate::domain::sender::{Security, Sender, SenderSettings};
use crate::domain::timer::OutboxItem;

/// What a try keeps for the note of what came of it.
const SPARE: Duration = Duration::from_secs(5);

/// A mail server, as far as it is known before anything is said to it.
struct Server<'a> {
    settings: &'a SenderSettings,
    host: &'a str,
    security: Security,
    addresses: Vec<SocketAddr>,
    credentials: Option<Credentials>,
    hello: ClientId,
}

/// Sends a note to each of its recipients: one that is refused does not keep it from the others.
pub(super) async fn send(
    courier: &Courier,
    item: &OutboxItem,
    note: &Note,
    sender: &Sender,
) -> Vec<(String, Result<(), Trouble>)> {
    let mut results = Vec::with_capacity(note.recipients.len());
    let until = Instant::now() + TRY_MAX - SPARE;
    let mut revealed = Revealed::default();
    let prepared = prepare(courier, item, note, sender, &mut revealed).await;
    let (server, mail, from) = match prepared {
        Ok(prepared) => prepared,
        Err(trouble) => return all(note, &trouble),
    };
    let place = format!("{}:{}", server.host, server.addresses.first().map_or(0, SocketAddr::port));
    let Some(_permit) = courier.permits.take(&item.tenant, &place) else {
        return all(note, &Trouble::Crowded);
    };
    let late = || Trouble::Again(format!("the mail server took more than {} s", TRY_MAX.as_secs()));
    let mut open: Option<AsyncSmtpConnection> = None;
    let mut broken: Option<Trouble> = None;
    for to in &note.recipients {
        if open.is_none() && broken.is_none() {
            match timeout_at(until, server.connect()).await.unwrap_or_else(|_| Err(late())) {
                Ok(connection) => open = Some(connection),
                Err(trouble) => broken = Some(scrubbed(trouble, &revealed)),
            }
        }
        let result = match (&mut open, &broken) {
            (Some(connection), _) => {
                let sent = timeout_at(until, hand_over(connection, &from, to, &mail)).await;
                sent.unwrap_or_else(|_| Err(late())).map_err(|trouble| scrubbed(trouble, &revealed))
            }
            (None, Some(trouble)) => Err(trouble.clone()),
            (None, None) => Err(late()),
        };
        // After a refusal the connection is closed by the library.
        if result.is_err() {
            open = None;
        }
        results.push((to.clone(), result));
    }
    if let Some(mut connection) = open {
        // What it says to that does not matter any more.
        let _ = timeout_at(until, connection.quit()).await;
    }
    results
}

fn all(note: &Note, trouble: &Trouble) -> Vec<(String, Result<(), Trouble>)> {
    note.recipients.iter().map(|to| (to.clone(), Err(trouble.clone()))).collect()
}

async fn prepare<'a>(
    courier: &Courier,
    item: &OutboxItem,
    note: &Note,
    sender: &'a Sender,
    revealed: &mut Revealed,
) -> Result<(Server<'a>, Vec<u8>, Address), Trouble> {
    let settings = &sender.settings;
    let never = |why: String| Trouble::Never(why);
    let incomplete = || never(format!("the sender '{}' has no server or no address", sender.name));
    let (host, from) = settings.host.as_deref().zip(settings.from.as_deref()).ok_or_else(incomplete)?;
    let from: Address = from.parse().map_err(|_| incomplete())?;
    let security = settings.security.unwrap_or_default();
    let port = settings.port.unwrap_or_else(|| security.port());
    let mail = compose(courier, item, note, &from).map_err(never)?;
    let credentials = match (&settings.user, &settings.password_secret) {
        (Some(user), Some(name)) => {
            let (secret, value) = courier.engine.open_secret(&item.tenant, name).await?;
            if !secret.granted_to(host, port) {
                return Err(never(format!(
                    "the secret `{name}` is not granted to the mail server: set it again with --host {host}:{port}"
                )));
            }
            let credentials = Credentials::new(user.clone(), value.clone());
            *revealed = Revealed::opened(secret, value);
            Some(credentials)
        }
        _ => None,
    };
    let addresses = look_up(host, port, &courier.allowed).await.map_err(|error| {
        match Forbidden::behind(error.as_ref()) {
            Some(forbidden) => never(forbidden.to_string()),
            None => Trouble::Again(format!("{host} cannot be looked up: {error}")),
        }
    })?;
    // An address that is not of the internet is here only because the operator has allowed it.
    let allowed = courier.allowed.host(host, port) || addresses.iter().all(|at| !is_public(at.ip()));
    if security == Security::None && !allowed {
        return Err(never(format!(
            "{host} is to be spoken to without encryption: set `security` to STARTTLS or TLS, or have an operator allow it \
             with --allow-hosts"
        )));
    }
    let hello = ClientId::Domain(from.domain().to_owned());
    Ok((Server { settings, host, security, addresses, credentials, hello }, mail, from))
}

impl Server<'_> {
    async fn connect(&self) -> Result<AsyncSmtpConnection, Trouble> {
        let tls = match self.security {
            Security::None => None,
            Security::Tls | Security::StartTls => Some(self.tls()?),
        };
        let first = tls.clone().filter(|_| self.security == Security::Tls);
        let connected = AsyncSmtpConnection::connect_tokio1(
            &self.addresses[..],
            Some(CONNECT_MAX),
            &self.hello,
            first,
            None,
        );
        let mut connection = connected.await.map_err(|error| unreachable("the mail server", &error))?;
        if let Some(tls) = tls.filter(|_| self.security == Security::StartTls) {
            let started = connection.starttls(tls, &self.hello).await;
            started.map_err(|error| unreachable("STARTTLS", &error))?;
        }
        if let Some(credentials) = &self.credentials {
            let known = connection.auth(&[Mechanism::Plain, Mechanism::Login], credentials).await;
            // An operator may correct the password meanwhile.
            known.map_err(|error| unreachable("the log-in", &error))?;
        }
        Ok(connection)
    }

    fn tls(&self) -> Result<TlsParameters, Trouble> {
        let flawed =
            |error: lettre::transport::smtp::Error| Trouble::Never(sentence("the certificate", &error));
        let mut parameters = TlsParameters::builder(self.host.to_owned());
        if let Some(pem) = &self.settings.ca_certificate {
            parameters =
                parameters.add_root_certificate(Certificate::from_pem(pem.as_bytes()).map_err(flawed)?);
        }
        parameters.build_rustls().map_err(flawed)
    }
}

/// The mail, the same at every try but for its date.
fn compose(courier: &Courier, item: &OutboxItem, note: &Note, from: &Address) -> Result<Vec<u8>, String> {
    let millis = u64::try_from(courier.clock.now().millis()).unwrap_or(0);
    let mut builder = Message::builder()
        .from(Mailbox::new(None, from.clone()))
        .subject(note.subject.clone())
        .date(UNIX_EPOCH + Duration::from_millis(millis))
        .message_id(Some(format!("<{}@{}>", item.id, from.domain())))
        .raw_header(HeaderValue::new(
            HeaderName::new_from_ascii_str("Auto-Submitted"),
            "auto-generated".to_owned(),
        ));
    for recipient in &note.recipients {
        let address: Address = recipient.parse().map_err(|_| "a recipient is no mail address".to_owned())?;
        builder = builder.to(Mailbox::new(None, address));
    }
    let mail = builder.singlepart(SinglePart::plain(note.message.clone()));
    Ok(mail.map_err(|error| format!("the mail cannot be written: {error}"))?.formatted())
}

async fn hand_over(
    connection: &mut AsyncSmtpConnection,
    from: &Address,
    to: &str,
    mail: &[u8],
) -> Result<(), Trouble> {
    let odd = |_| Trouble::Never("a recipient is no mail address".to_owned());
    let to: Address = to.parse().map_err(|_| Trouble::Never("a recipient is no mail address".to_owned()))?;
    let envelope = Envelope::new(Some(from.clone()), vec![to]).map_err(odd)?;
    match connection.send(&envelope, mail).await {
        Ok(_) => Ok(()),
        Err(error) if error.is_permanent() || error.is_client() => {
            Err(Trouble::Never(sentence("the mail server refused it", &error)))
        }
        Err(error) => Err(Trouble::Again(sentence("the mail server", &error))),
    }
}

fn unreachable(what: &str, error: &lettre::transport::smtp::Error) -> Trouble {
    Trouble::Again(sentence(what, error))
}

fn sentence(what: &str, error: &lettre::transport::smtp::Error) -> String {
    let mut sentence = format!("{what}: {error}");
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !sentence.contains(&cause_text) {
            sentence = format!("{sentence}: {cause_text}");
        }
        next = cause.source();
    }
    sentence
}

/// A server may repeat what it was told.
fn scrubbed(trouble: Trouble, revealed: &Revealed) -> Trouble {
    match trouble {
        Trouble::Again(why) => Trouble::Again(revealed.scrub(&why)),
        Trouble::Never(why) => Trouble::Never(revealed.scrub(&why)),
        other => other,
    }
}
