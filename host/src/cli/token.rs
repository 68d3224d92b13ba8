//! `stepwell token`: make, list and revoke tokens. The first one is made on the database itself.

use serde_json::{Value, json};

use super::client::{Client, segment};
use super::print::{Output, cell};
use super::{Error, Global};
use crate::boot;
use crate::domain::token::Role;
use crate::domain::{Clock as _, SystemClock, TenantId, Timestamp};
use crate::settings::parse_duration;

/// Make, list and revoke tokens.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Command {
    /// Make a token; its secret is shown once.
    #[command(after_help = "Examples:\n  \
        stepwell token create --role worker --name n8n --tenant acme --expires 90d\n  \
        stepwell token create --role admin --tenant default --database sqlite:stepwell-data/stepwell.db\n\n\
        With --database the token is written to the database itself: the way to the first one, when no\n\
        server may run without it.")]
    Create {
        /// worker, sender, operator or admin.
        #[arg(long, value_parser = parse_role)]
        role: Role,
        /// What you call it.
        #[arg(long, default_value = "unnamed")]
        name: String,
        /// When it ends, from now: 90d, 12h.
        #[arg(long, value_name = "TIME")]
        expires: Option<String>,
        /// Write to this database, not through a server.
        #[arg(long, value_name = "URL")]
        database: Option<String>,
    },
    /// List tokens of the tenant, without their secrets.
    List,
    /// End a token now.
    Revoke {
        /// The token's id.
        id: String,
    },
}

/// Runs it.
pub(super) async fn run(command: Command, global: &Global, output: &Output) -> Result<(), Error> {
    match command {
        Command::Create { role, name, expires, database } => {
            let expires_at = expires.as_deref().map(end).transpose()?;
            let answer = match database {
                Some(database) => create_on_database(database, global, role, &name, expires_at).await?,
                None => {
                    let body = json!({ "role": role, "name": name, "expiresAt": expires_at });
                    Client::new(global)?.post("/api/v1/tokens", &body).await?
                }
            };
            print_new(&answer, output);
        }
        Command::List => {
            let answer = Client::new(global)?.get("/api/v1/tokens", &[]).await?;
            let columns = [
                ("ID", "/id"),
                ("NAME", "/name"),
                ("ROLE", "/role"),
                ("TENANT", "/tenant"),
                ("CREATED", "/createdAt"),
                ("EXPIRES", "/expiresAt"),
                ("REVOKED", "/revokedAt"),
            ];
            output.list(&answer, &columns);
        }
        Command::Revoke { id } => {
            let answer = Client::new(global)?.delete(&format!("/api/v1/tokens/{}", segment(&id))).await?;
            output.answer(&answer, format!("revoked: {id}"));
        }
    }
    Ok(())
}

async fn create_on_database(
    database: String,
    global: &Global,
    role: Role,
    name: &str,
    expires_at: Option<Timestamp>,
) -> Result<Value, Error> {
    let tenant: TenantId = match &global.tenant {
        Some(tenant) => tenant.parse().map_err(|error| Error::usage(format!("--tenant: {error}")))?,
        None => TenantId::default(),
    };
    let made = boot::create_token(&database, &tenant, role, name, expires_at).await?;
    Ok(json!({
        "id": made.token.id,
        "tenant": made.token.tenant,
        "role": made.token.role,
        "name": made.token.name,
        "createdAt": made.token.created_at,
        "expiresAt": made.token.expires_at,
        "token": made.secret,
    }))
}

fn print_new(answer: &Value, output: &Output) {
    if output.json {
        return output.value(answer);
    }
    let secret = cell(answer, "/token");
    output.fields(&[
        ("id", cell(answer, "/id")),
        ("tenant", cell(answer, "/tenant")),
        ("role", cell(answer, "/role")),
        ("expires", cell(answer, "/expiresAt")),
        ("token", secret),
    ]);
    output.line("The token is shown this once. Send it as 'Authorization: Bearer …', or set STEPWELL_TOKEN.");
}

fn end(expires: &str) -> Result<Timestamp, Error> {
    let after = parse_duration(expires).map_err(|error| Error::usage(format!("--expires: {error}")))?;
    let millis = i64::try_from(after.as_millis()).unwrap_or(i64::MAX);
    Ok(SystemClock.now().plus_millis(millis))
}

fn parse_role(text: &str) -> Result<Role, String> {
    serde_json::from_value(Value::from(text)).map_err(|_| "one of worker, sender, operator, admin".to_owned())
}
