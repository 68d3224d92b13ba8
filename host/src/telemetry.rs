//! Logs on stderr, and traces over OTLP. Who reads neither pays for neither.

pub(crate) mod context;

use std::fmt;
use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{Protocol, SpanExporter as OtlpExporter, WithExportConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, SdkTracerProvider, SpanData, SpanExporter,
};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _, fmt as log_format};

/// How long a collector has for one batch of spans, which is lost then: what OTLP's exporters give it by default.
const EXPORT_SECONDS_MAX: u64 = 10;
/// How long the end of the host waits for the last spans.
const FLUSH_SECONDS_MAX: u64 = 5;
/// How long a span waits for company.
const BATCH_DELAY_MS: u64 = 500;
/// Spans that wait for the collector; more are dropped, so that one that is away costs no memory.
const QUEUE_SPANS_MAX: usize = 8_192;

/// How log lines look.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people; coloured on a terminal.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// What to write, and where to send it.
#[derive(Clone, Debug)]
pub struct Options {
    /// Such as `info` or `stepwell=debug,info`.
    pub filter: String,
    /// How log lines look.
    pub format: LogFormat,
    /// The collector's base address, such as `http://127.0.0.1:4318`.
    pub otlp: Option<String>,
    /// Names this host in traces.
    pub node_id: String,
}

/// Why telemetry could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

/// Ends telemetry in order: [`Telemetry::flush`] sends what was not sent yet.
#[derive(Debug, Default)]
pub struct Telemetry {
    provider: Option<SdkTracerProvider>,
}

/// Starts logs and traces for the whole process. Must be called inside a tokio runtime if `otlp` is set.
pub fn start(options: &Options) -> Result<Telemetry, Error> {
    let filter = EnvFilter::try_new(&options.filter).map_err(|error| {
        Error(format!("the log filter '{}' is not valid: {error}; try 'info'", options.filter))
    })?;
    let lines = match options.format {
        LogFormat::Text => log_format::layer()
            .with_writer(std::io::stderr)
            .with_ansi(std::io::stderr().is_terminal())
            .boxed(),
        LogFormat::Json => {
            log_format::layer().with_writer(std::io::stderr).json().flatten_event(true).boxed()
        }
    };
    let provider =
        options.otlp.as_deref().map(|endpoint| provider(endpoint, &options.node_id)).transpose()?;
    // Traces have a filter of their own: a quiet log must not make a trace with holes. The spans of plugin calls
    // and commits are on the level of `debug`, so that who sends no traces does not pay for them.
    let traces = provider.as_ref().map(|provider| {
        tracing_opentelemetry::layer()
            .with_tracer(provider.tracer("stepwell"))
            .with_location(false)
            .with_threads(false)
            .with_filter(EnvFilter::new("off,stepwell=debug"))
    });
    tracing_subscriber::registry()
        .with(traces)
        .with(lines.with_filter(filter))
        .try_init()
        .map_err(|error| Error(format!("logging was set up twice: {error}")))?;
    Ok(Telemetry { provider })
}

impl Telemetry {
    /// Sends what is still waiting. A collector that is away costs a few seconds at most.
    pub async fn flush(self) {
        let Some(provider) = self.provider else { return };
        // The exporter's thread needs this runtime's workers while it is waited for.
        let ended = tokio::task::spawn_blocking(move || {
            provider.shutdown_with_timeout(Duration::from_secs(FLUSH_SECONDS_MAX))
        })
        .await;
        if let Ok(Err(error)) = ended {
            tracing::debug!(%error, "the last spans were not sent");
        }
    }
}

fn provider(endpoint: &str, node_id: &str) -> Result<SdkTracerProvider, Error> {
    let base = endpoint.trim_end_matches('/');
    let url = if base.ends_with("/v1/traces") { base.to_owned() } else { format!("{base}/v1/traces") };
    let exporter = OtlpExporter::builder()
        .with_http()
        .with_endpoint(url)
        .with_protocol(Protocol::HttpBinary)
        .with_timeout(Duration::from_secs(EXPORT_SECONDS_MAX))
        .build()
        .map_err(|error| Error(format!("the OTLP address '{endpoint}' cannot be used: {error}")))?;
    let on_runtime = OnRuntime { inner: Arc::new(exporter), runtime: tokio::runtime::Handle::current() };
    let batches = BatchConfigBuilder::default()
        .with_scheduled_delay(Duration::from_millis(BATCH_DELAY_MS))
        .with_max_queue_size(QUEUE_SPANS_MAX)
        .build();
    let processor = BatchSpanProcessor::builder(on_runtime).with_batch_config(batches).build();
    let resource = Resource::builder_empty()
        .with_attributes([
            KeyValue::new("service.name", "stepwell"),
            KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
            KeyValue::new("service.instance.id", node_id.to_owned()),
        ])
        .build();
    Ok(SdkTracerProvider::builder().with_resource(resource).with_span_processor(processor).build())
}

/// Sends on the host's runtime: the batch thread has none, and the HTTP client needs one.
struct OnRuntime {
    inner: Arc<OtlpExporter>,
    runtime: tokio::runtime::Handle,
}

impl fmt::Debug for OnRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnRuntime")
    }
}

impl SpanExporter for OnRuntime {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let inner = Arc::clone(&self.inner);
        let sent = self.runtime.spawn(async move { inner.export(batch).await });
        sent.await.unwrap_or_else(|error| Err(OTelSdkError::InternalFailure(error.to_string())))
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        if let Some(inner) = Arc::get_mut(&mut self.inner) {
            inner.set_resource(resource);
        }
    }
}
