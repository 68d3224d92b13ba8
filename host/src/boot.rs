//! From settings to a running host: database, plugins, node, listener; and its orderly end.

mod first_token;
mod plugins;
mod secret_key;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::dispatch::kafka::Kafka;
use crate::dispatch::retention::RetentionOptions;
use crate::domain::SystemClock;
use crate::engine::port::{Store, StoreError};
use crate::node::{Node, NodeParts};
use crate::settings::{Settings, shown_database};
use crate::store::{self, OpenError};
use crate::{api, metrics};

pub use first_token::create_token;

/// How long each part of the end may take.
const STOP_SECONDS_MAX: u64 = 20;

/// Why a host did not come up.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database or the address is not there.
    #[error("{0}")]
    Unavailable(String),
    /// What was asked for cannot be.
    #[error("{0}")]
    Config(String),
}

/// A running host.
pub struct Running {
    /// Whether it answers without a token.
    pub open: bool,
    address: SocketAddr,
    node: Arc<Node>,
    store: Arc<dyn Store>,
    /// Cancelled first: no new connections.
    accepting: CancellationToken,
    /// Cancelled when the node is drained: the loops end.
    loops_stop: CancellationToken,
    server: JoinHandle<std::io::Result<()>>,
    loops: Vec<JoinHandle<()>>,
}

/// Brings a host up. When this returns, it answers.
pub async fn start(settings: &Settings) -> Result<Running, Error> {
    make_folder(settings)?;
    let keyring = secret_key::load(settings)?;
    let store = open(&settings.database).await?;
    let listener = listen(&settings.listen).await?;
    let address = listener.local_addr().map_err(|error| unreachable_address(&settings.listen, &error))?;
    let open = is_open(store.as_ref(), address, settings).await?;

    // First of all: what is counted later is looked up once, and would be lost for good if nobody counted yet.
    let recorder = metrics::install();
    let plugins = plugins::load(settings, Arc::clone(&store)).await?;
    let node = Node::new(NodeParts {
        store: Arc::clone(&store),
        plugins: plugins.host(),
        catalog: plugins.host(),
        clock: Arc::new(SystemClock),
        limits: settings.limits.clone(),
        retention: RetentionOptions {
            instances_after: settings.keep_instances,
            journals_after: settings.keep_journals,
            waits_after: settings.keep_waits,
            rejected_after: settings.keep_rejected,
        },
        keyring: Arc::new(keyring),
        allow_hosts: Arc::new(settings.allow_hosts.clone()),
        kafka: kafka(settings)?,
        node_id: settings.node_id.clone(),
        open,
    });
    if !settings.task_priorities {
        node.engine.switch_priorities_off();
    }
    let loops_stop = CancellationToken::new();
    let accepting = CancellationToken::new();
    let loops = vec![
        node.run_loops(loops_stop.clone()),
        tokio::spawn(plugins.keep_in_step(Arc::clone(&node), loops_stop.clone())),
    ];
    let router = api::router(Arc::clone(&node), recorder);
    let server = tokio::spawn(api::serve(listener, router, accepting.clone()));
    tracing::info!(%address, node = settings.node_id, database = shown_database(&settings.database), "listening");
    Ok(Running { open, address, node, store, accepting, loops_stop, server, loops })
}

impl Running {
    /// Where it listens.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Waits until it ends by itself, which it should not.
    pub async fn ended(&mut self) -> Result<(), Error> {
        let why = match (&mut self.server).await {
            Ok(Ok(())) => "it ended by itself".to_owned(),
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        Err(Error::Unavailable(format!("the host cannot take connections any more: {why}")))
    }

    /// Ends in order: no new connections, parked polls answered, batches committed, loops and connections closed.
    pub async fn stop(mut self) {
        self.accepting.cancel();
        within("draining", self.node.drain()).await;
        if !self.server.is_finished() {
            within("open requests", async {
                let _ = (&mut self.server).await;
            })
            .await;
        }
        self.loops_stop.cancel();
        for ended in self.loops {
            within("a loop", async {
                let _ = ended.await;
            })
            .await;
        }
        if let Some(courier) = &self.node.courier {
            within("requests to the outside", courier.drain()).await;
        }
        within("closing the database", self.store.close()).await;
    }
}

/// Opens a database. What is wrong with the address is a setting to change; all else may be right again later.
async fn open(database: &str) -> Result<Arc<dyn Store>, Error> {
    store::open(database, uuid::Uuid::now_v7()).await.map_err(|error| match error {
        OpenError::Scheme(_) | OpenError::Address(_) | OpenError::Newer { .. } => {
            Error::Config(error.to_string())
        }
        _ => Error::Unavailable(error.to_string()),
    })
}

/// Nothing is asked of a broker yet: one that is away is no reason not to come up.
fn kafka(settings: &Settings) -> Result<Option<Arc<Kafka>>, Error> {
    settings.kafka.clone().map(Kafka::new).transpose().map_err(Error::Config)
}

/// Whether the host answers without a token: on loopback, as long as nobody made one.
async fn is_open(store: &dyn Store, address: SocketAddr, settings: &Settings) -> Result<bool, Error> {
    if store.has_tokens().await? {
        return Ok(false);
    }
    if address.ip().is_loopback() {
        tracing::warn!(
            %address,
            "this host is OPEN: there is no token, so every process of this machine may do everything; make one \
             with 'stepwell token create', and restart"
        );
        return Ok(true);
    }
    Err(Error::Config(format!(
        "{address} can be reached by others, and no token exists. Make one first: stepwell token create --role admin \
         --tenant default --database {}  (or listen on 127.0.0.1)",
        shown_database(&settings.database)
    )))
}

async fn listen(address: &str) -> Result<TcpListener, Error> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        std::io::ErrorKind::InvalidInput => Error::Config(format!(
            "listen: '{address}' is not an address with a port, such as 127.0.0.1:8080"
        )),
        _ => unreachable_address(address, &error),
    })
}

fn unreachable_address(address: &str, error: &std::io::Error) -> Error {
    Error::Unavailable(format!("cannot listen on {address}: {error}; choose another with --listen"))
}

/// The database and compiled plugins have secrets of users in them: the folder is for this user alone.
fn make_folder(settings: &Settings) -> Result<(), Error> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&settings.data).map_err(|error| {
        Error::Config(format!("the data folder {} cannot be made: {error}", settings.data.display()))
    })
}

async fn within(what: &str, work: impl Future<Output = ()>) {
    if tokio::time::timeout(Duration::from_secs(STOP_SECONDS_MAX), work).await.is_err() {
        tracing::warn!(seconds = STOP_SECONDS_MAX, "{what} took too long; going on without it");
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self::Unavailable(error.to_string())
    }
}
