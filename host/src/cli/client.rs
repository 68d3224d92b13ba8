//! A small client of the public HTTP API.

use std::time::Duration;

use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};

use super::{Error, Global};

/// Where a server is if nothing is said.
pub(super) const DEFAULT_SERVER: &str = "http://127.0.0.1:8080";
/// How long a connection may take.
const CONNECT_SECONDS_MAX: u64 = 10;
/// How long an answer may take, beyond the time that the request itself asked the server to wait.
const ANSWER_SECONDS_MAX: u64 = 60;

/// Talks to one server, for one tenant.
#[derive(Clone, Debug)]
pub(super) struct Client {
    http: reqwest::Client,
    base: String,
    token: Option<String>,
    tenant: Option<String>,
}

impl Client {
    /// A client for what the command line says.
    pub(super) fn new(global: &Global) -> Result<Self, Error> {
        let base = global.server.as_deref().unwrap_or(DEFAULT_SERVER);
        Self::to(base, global.token.clone(), global.tenant.clone())
    }

    /// A client of the server at `base`.
    pub(super) fn to(base: &str, token: Option<String>, tenant: Option<String>) -> Result<Self, Error> {
        let url = reqwest::Url::parse(base)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.host().is_some())
            .ok_or_else(|| {
                Error::usage(format!("--server: '{base}' is not an address such as {DEFAULT_SERVER}"))
            })?;
        crate::tls::provide();
        let mut builder =
            reqwest::Client::builder().connect_timeout(Duration::from_secs(CONNECT_SECONDS_MAX));
        // A proxy cannot reach this machine's own loopback.
        if matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]")) {
            builder = builder.no_proxy();
        }
        let http = builder.build().map_err(|error| Error::unavailable(error.to_string()))?;
        Ok(Self { http, base: base.trim_end_matches('/').to_owned(), token, tenant })
    }

    /// The server's address.
    pub(super) fn base(&self) -> &str {
        &self.base
    }

    /// Reads.
    pub(super) async fn get(&self, path: &str, query: &[(&str, String)]) -> Result<Value, Error> {
        self.call(self.request(Method::GET, path).query(query)).await
    }

    /// Sends JSON.
    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Value, Error> {
        self.call(self.request(Method::POST, path).json(body)).await
    }

    /// Removes.
    pub(super) async fn delete(&self, path: &str) -> Result<Value, Error> {
        self.call(self.request(Method::DELETE, path)).await
    }

    /// A request to be filled and given to [`Client::call`] or [`Client::open`].
    pub(super) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let mut request = self.http.request(method, format!("{}{path}", self.base));
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        if let Some(tenant) = &self.tenant {
            request = request.header("x-stepwell-tenant", tenant);
        }
        request
    }

    /// Sends and reads the whole answer; `null` if it is empty.
    pub(super) async fn call(&self, request: RequestBuilder) -> Result<Value, Error> {
        self.call_within(request, Duration::ZERO).await
    }

    /// The same, for a request that asks the server to wait.
    pub(super) async fn call_within(&self, request: RequestBuilder, wait: Duration) -> Result<Value, Error> {
        let limit = wait + Duration::from_secs(ANSWER_SECONDS_MAX);
        let response = self.open(request.timeout(limit)).await?;
        self.read(response).await
    }

    /// The whole answer as JSON.
    pub(super) async fn read(&self, response: Response) -> Result<Value, Error> {
        let text = response.text().await.map_err(|error| self.away(&error))?;
        if text.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_str(&text).map_err(|error| {
            Error::refused("not_stepwell", format!("{} did not answer with JSON: {error}", self.base))
        })
    }

    /// Sends and hands out the answer as it comes; anything but success is an error.
    pub(super) async fn open(&self, request: RequestBuilder) -> Result<Response, Error> {
        let response = request.send().await.map_err(|error| self.away(&error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let text = response.text().await.unwrap_or_default();
        let problem =
            serde_json::from_str(&text).unwrap_or_else(|_| json!({ "detail": plain(status, &text) }));
        Err(Error::from_problem(status.as_u16(), problem))
    }

    fn away(&self, error: &reqwest::Error) -> Error {
        let why = if error.is_timeout() { "did not answer in time" } else { "does not answer" };
        Error::unavailable(format!(
            "the server at {} {why}; start one with 'stepwell serve', or name another with --server",
            self.base
        ))
    }
}

/// A path segment with everything escaped that would end it.
pub(super) fn segment(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

/// Query parameters without those that were not given.
pub(super) fn query<'a>(parameters: &[(&'a str, Option<String>)]) -> Vec<(&'a str, String)> {
    parameters.iter().filter_map(|(name, value)| Some((*name, value.clone()?))).collect()
}

fn plain(status: StatusCode, text: &str) -> String {
    let text: String = text.chars().take(300).collect();
    if text.is_empty() { format!("the server answered with status {status}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_cannot_leave_its_place() {
        assert_eq!(segment("a/../b?c#d é"), "a%2F..%2Fb%3Fc%23d%20%C3%A9");
    }

    #[test]
    fn a_server_needs_an_address() {
        for right in ["http://127.0.0.1:1", "https://stepwell.example.com"] {
            assert!(Client::to(right, None, None).is_ok(), "{right}");
        }
        for wrong in ["127.0.0.1:8080", "ftp://x", "http://"] {
            assert!(Client::to(wrong, None, None).is_err(), "{wrong}");
        }
    }
}
