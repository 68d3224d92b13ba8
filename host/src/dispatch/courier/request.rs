//! One try of one HTTP request: addresses checked, secrets put in, redirects followed by hand, the answer bounded.

use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, StatusCode, Url};

use super::resolver::Forbidden;
use super::reveal::Revealed;
use super::{Courier, Trouble};
use crate::domain::timer::OutboxItem;

/// Redirects that are followed.
const REDIRECTS_MAX: usize = 5;
/// The longest address.
const URL_BYTES_MAX: usize = 8 << 10;
/// Headers that the client sets itself.
const RESERVED: [&str; 7] =
    ["host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer"];

/// A request to be sent. Its texts may have markers of secrets in them.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) url: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    /// For all of it, redirects included.
    pub(super) timeout: Duration,
    pub(super) answer_bytes_max: usize,
}

/// An answer, without the secrets that it may have repeated.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
    pub(super) retry_after: Option<Duration>,
}

impl Answer {
    /// Whether another try may get a better one.
    pub(super) fn passing(&self) -> bool {
        self.status >= 500 || self.status == 429
    }
}

/// What is sent, secrets and all.
struct Sent {
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Vec<u8>,
    /// Headers that have a secret in them.
    secret_headers: Vec<HeaderName>,
    secret_body: bool,
}

/// Sends a request for an item of the outbox.
pub(super) async fn send(courier: &Courier, item: &OutboxItem, request: &Request) -> Result<Answer, Trouble> {
    let body = String::from_utf8_lossy(&request.body);
    let texts = request.headers.iter().map(|(_, value)| value.as_str());
    let texts = texts.chain([request.url.as_str(), body.as_ref()]);
    let revealed = Revealed::of(&courier.engine, &item.tenant, item.step_execution_id, texts).await?;
    send_revealed(courier, item, request, &revealed).await
}

/// The same with secrets that are open already.
pub(super) async fn send_revealed(
    courier: &Courier,
    item: &OutboxItem,
    request: &Request,
    revealed: &Revealed,
) -> Result<Answer, Trouble> {
    let sent = prepare(item, request, revealed).map_err(|why| Trouble::Never(revealed.scrub(&why)))?;
    let (host, port) = place(&sent.url).map_err(Trouble::Never)?;
    revealed.granted_to(&host, port).map_err(Trouble::Never)?;
    let place = format!("{host}:{port}");
    let _permit = courier.permits.take(&item.tenant, &place).ok_or(Trouble::Crowded)?;
    let followed = follow(courier, sent, request.answer_bytes_max, revealed);
    match tokio::time::timeout(request.timeout, followed).await {
        Ok(answer) => answer,
        Err(_) => Err(Trouble::Again(format!("no answer within {} ms", request.timeout.as_millis()))),
    }
}

fn prepare(item: &OutboxItem, request: &Request, revealed: &Revealed) -> Result<Sent, String> {
    let method: Method = request.method.to_ascii_uppercase().parse().map_err(|_| {
        format!("`{}` is no HTTP method", request.method.chars().take(40).collect::<String>())
    })?;
    if request.url.len() > URL_BYTES_MAX {
        return Err(format!("the address is longer than {URL_BYTES_MAX} bytes"));
    }
    let url = parse(&revealed.put_into(&request.url)?)?;
    if url.as_str().len() > URL_BYTES_MAX {
        return Err(format!("the address is longer than {URL_BYTES_MAX} bytes"));
    }
    let mut headers = HeaderMap::new();
    let mut secret_headers = Vec::new();
    for (name, value) in &request.headers {
        let named: HeaderName =
            name.parse().map_err(|_| format!("`{}` is no name of a header", name.escape_debug()))?;
        if RESERVED.contains(&named.as_str()) {
            return Err(format!("the header `{name}` is the host's to set"));
        }
        let mut written = HeaderValue::from_str(&revealed.put_into(value)?).map_err(|_| {
            format!("the value of the header `{name}` has characters that a header cannot have")
        })?;
        if revealed.stands_in(value) {
            written.set_sensitive(true);
            secret_headers.push(named.clone());
        }
        headers.append(named, written);
    }
    if !headers.contains_key("idempotency-key") {
        let key = HeaderValue::from_str(&item.id.to_string()).map_err(|error| error.to_string())?;
        headers.insert("idempotency-key", key);
    }
    let text = std::str::from_utf8(&request.body).ok();
    let secret_body = text.is_some_and(|text| revealed.stands_in(text));
    let is_json = headers
        .get("content-type")
        .is_some_and(|kind| kind.to_str().is_ok_and(|kind| kind.to_ascii_lowercase().contains("json")));
    let body = match text {
        Some(text) if secret_body && is_json => revealed.put_into_json(text)?.into_bytes(),
        Some(text) if secret_body => revealed.put_into(text)?.into_bytes(),
        _ => request.body.clone(),
    };
    Ok(Sent { method, url, headers, body, secret_headers, secret_body })
}

fn parse(url: &str) -> Result<Url, String> {
    let parsed = Url::parse(url).map_err(|error| format!("the address cannot be read: {error}"))?;
    if !matches!(parsed.scheme(), "http" | "https") || parsed.host_str().is_none_or(str::is_empty) {
        return Err("the address is not one of http or https".into());
    }
    Ok(parsed)
}

/// Host and port of an address.
pub(super) fn place(url: &Url) -> Result<(String, u16), String> {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let port = url.port_or_known_default().ok_or_else(|| String::from("the address has no port"))?;
    Ok((host.to_owned(), port))
}

async fn follow(
    courier: &Courier,
    mut sent: Sent,
    answer_bytes_max: usize,
    revealed: &Revealed,
) -> Result<Answer, Trouble> {
    for _ in 0..=REDIRECTS_MAX {
        let response = once(courier, &sent, revealed).await?;
        let to = response.headers().get("location").and_then(|to| to.to_str().ok().map(str::to_owned));
        match (response.status(), to) {
            (
                status @ (StatusCode::MOVED_PERMANENTLY
                | StatusCode::FOUND
                | StatusCode::SEE_OTHER
                | StatusCode::TEMPORARY_REDIRECT
                | StatusCode::PERMANENT_REDIRECT),
                Some(to),
            ) => sent = redirected(sent, status, &to).map_err(|why| Trouble::Never(revealed.scrub(&why)))?,
            _ => return read(response, answer_bytes_max, revealed).await,
        }
    }
    Err(Trouble::Never(format!("it was sent on more than {REDIRECTS_MAX} times")))
}

async fn once(courier: &Courier, sent: &Sent, revealed: &Revealed) -> Result<reqwest::Response, Trouble> {
    let (host, port) = place(&sent.url).map_err(Trouble::Never)?;
    let client = courier.client(&host, port).map_err(|forbidden| refused(&forbidden, revealed))?;
    let request = client.request(sent.method.clone(), sent.url.clone()).headers(sent.headers.clone());
    let request = if sent.body.is_empty() { request } else { request.body(sent.body.clone()) };
    request.send().await.map_err(|error| trouble(error, revealed))
}

/// Where a redirect leads: without the secrets, and never from https to http.
fn redirected(mut sent: Sent, status: StatusCode, to: &str) -> Result<Sent, String> {
    let url = sent.url.join(to).map_err(|error| format!("it was sent on to no address: {error}"))?;
    let url = parse(url.as_str())?;
    if sent.url.scheme() == "https" && url.scheme() == "http" {
        return Err("it was sent on from https to http".into());
    }
    let keeps = matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT)
        || matches!(sent.method, Method::GET | Method::HEAD);
    if !keeps {
        sent.method = Method::GET;
        sent.body.clear();
        sent.headers.remove("content-type");
    } else if sent.secret_body {
        return Err(
            "it was sent on with a body that has a secret in it, which goes to its own host only".into()
        );
    }
    for name in std::mem::take(&mut sent.secret_headers) {
        sent.headers.remove(name);
    }
    if url.host_str() != sent.url.host_str()
        || url.port_or_known_default() != sent.url.port_or_known_default()
    {
        for name in ["authorization", "cookie", "proxy-authorization"] {
            sent.headers.remove(name);
        }
    }
    sent.url = url;
    Ok(sent)
}

async fn read(
    mut response: reqwest::Response,
    answer_bytes_max: usize,
    revealed: &Revealed,
) -> Result<Answer, Trouble> {
    let header = |(name, value): (&HeaderName, &HeaderValue)| {
        let value = String::from_utf8_lossy(value.as_bytes()).replace('\0', "\u{fffd}");
        (name.as_str().to_owned(), revealed.scrub(&value))
    };
    let headers: Vec<(String, String)> = response.headers().iter().map(header).collect();
    let seconds = response.headers().get("retry-after").and_then(|after| after.to_str().ok()?.parse().ok());
    let status = response.status().as_u16();
    let mut body = Vec::new();
    while let Some(part) = response.chunk().await.map_err(|error| trouble(error, revealed))? {
        if body.len() + part.len() > answer_bytes_max {
            return Err(Trouble::Never(format!("the answer is larger than {answer_bytes_max} bytes")));
        }
        body.extend_from_slice(&part);
    }
    let body = revealed.scrub(&String::from_utf8_lossy(&body).replace('\0', "\u{fffd}"));
    Ok(Answer { status, headers, body, retry_after: seconds.map(Duration::from_secs) })
}

/// What went wrong on the way, without the address: it may have a secret in it.
fn trouble(error: reqwest::Error, revealed: &Revealed) -> Trouble {
    if let Some(forbidden) = Forbidden::behind(&error) {
        return refused(forbidden, revealed);
    }
    let error = error.without_url();
    let mut sentence = error.to_string();
    let mut next = std::error::Error::source(&error);
    while let Some(cause) = next {
        sentence = format!("{sentence}: {cause}");
        next = cause.source();
    }
    Trouble::Again(revealed.scrub(&sentence))
}

/// An address that requests may not go to. It is not named where it may have come from a secret.
fn refused(forbidden: &Forbidden, revealed: &Revealed) -> Trouble {
    Trouble::Never(if revealed.is_empty() {
        forbidden.to_string()
    } else {
        "the host of this request, or one that it was sent on to, is not one of the internet; an operator can allow it \
         with --allow-hosts"
            .into()
    })
}
