//! stub
use crate::domain::token::Role;
use crate::domain::*;
use crate::engine::NewToken;
use crate::settings::Settings;
/// E
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// k
    pub kind: u8,
    /// m
    pub message: String,
}
/// R
#[derive(Debug)]
pub struct Running {
    /// o
    pub open: bool,
}
impl Running {
    /// u
    pub fn url(&self) -> String {
        String::new()
    }
    /// s
    pub async fn stop(self) {}
    /// e
    pub async fn ended(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
/// s
pub async fn start(_: &Settings) -> Result<Running, Error> {
    Ok(Running { open: true })
}
/// c
pub async fn create_token(
    _: &str,
    _: &TenantId,
    _: Role,
    _: &str,
    _: Option<Timestamp>,
) -> Result<NewToken, Error> {
    Err(Error { kind: 1, message: String::new() })
}
