//! Takes connections until the host stops, then lets requests end, but not for ever.

use std::future::IntoFuture as _;
use std::time::Duration;

use axum::Router;
use axum::serve::ListenerExt as _;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// How long requests may go on after the shutdown began.
const GRACE: Duration = Duration::from_secs(10);

/// Serves until the shutdown; then no connection is taken, and requests that are under way end.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    shutdown: CancellationToken,
) -> std::io::Result<()> {
    // Answers are small and each is waited for: send them at once.
    let listener = listener.tap_io(|connection| {
        if let Err(error) = connection.set_nodelay(true) {
            tracing::debug!(%error, "a connection keeps its delay");
        }
    });
    // Else every connection would get a routing table of its own, 100 KB of it.
    let service = router.into_make_service();
    let serving = axum::serve(listener, service).with_graceful_shutdown(shutdown.clone().cancelled_owned());
    tokio::select! {
        ended = serving.into_future() => ended,
        () = async {
            shutdown.cancelled().await;
            tokio::time::sleep(GRACE).await;
        } => {
            tracing::warn!(seconds = GRACE.as_secs(), "some requests did not end in time and are cut off");
            Ok(())
        }
    }
}
