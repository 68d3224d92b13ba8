//! A request's body, up to its limit. Most clients send all of a body before they look for an answer, and a host that hangs
//! up meanwhile leaves them with a broken connection instead of a reason: so what is too much is read and thrown away.

use std::time::Duration;

use axum::body::{Body, Bytes};
use bytes::BytesMut;
use futures::StreamExt as _;

/// How much of a body that is too big is read to be thrown away.
const WASTE_BYTES_MAX: usize = 256 << 20;

/// How long that may take.
const WASTE_SECONDS_MAX: u64 = 30;

/// Why there is no body.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    TooLarge,
    Unreadable(String),
}

/// Reads a body of so many bytes at most.
pub(super) async fn read(body: Body, bytes_max: usize) -> Result<Bytes, Trouble> {
    let mut chunks = body.into_data_stream();
    // Nearly all bodies come in one piece, which need not be copied.
    let (mut first, mut rest) = (Bytes::new(), BytesMut::new());
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| Trouble::Unreadable(error.to_string()))?;
        if first.len() + rest.len() + chunk.len() > bytes_max {
            drop((first, rest));
            waste(chunks).await;
            return Err(Trouble::TooLarge);
        }
        if first.is_empty() {
            first = chunk;
        } else {
            rest.extend_from_slice(&chunk);
        }
    }
    Ok(if rest.is_empty() { first } else { [first, rest.freeze()].concat().into() })
}

async fn waste(mut chunks: axum::body::BodyDataStream) {
    let mut wasted = 0;
    let all = async {
        while let Some(Ok(chunk)) = chunks.next().await {
            wasted += chunk.len();
            if wasted > WASTE_BYTES_MAX {
                return;
            }
        }
    };
    let _ = tokio::time::timeout(Duration::from_secs(WASTE_SECONDS_MAX), all).await;
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn pieces(pieces: &'static [&'static str]) -> (Body, Arc<AtomicUsize>) {
        let sent = Arc::new(AtomicUsize::new(0));
        let counter = sent.clone();
        let stream = futures::stream::iter(pieces).map(move |piece| {
            counter.fetch_add(1, Ordering::Relaxed);
            Ok::<_, std::io::Error>(Bytes::from_static(piece.as_bytes()))
        });
        (Body::from_stream(stream), sent)
    }

    #[tokio::test]
    async fn a_body_is_read_up_to_its_limit() {
        let (body, _) = pieces(&["one ", "and ", "two"]);
        assert_eq!(read(body, 11).await.unwrap(), "one and two");
        assert_eq!(read(Body::empty(), 0).await.unwrap(), "");
    }

    #[tokio::test]
    async fn what_is_too_much_is_read_to_its_end() {
        let (body, sent) = pieces(&["one ", "and ", "two", " and", " three"]);
        assert_eq!(read(body, 10).await, Err(Trouble::TooLarge));
        assert_eq!(sent.load(Ordering::Relaxed), 5);
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_is_waited_for_without_end() {
        let stuck = futures::stream::iter([Ok::<_, std::io::Error>("too much".into())])
            .chain(futures::stream::pending::<Result<Bytes, _>>());
        assert_eq!(read(Body::from_stream(stuck), 1).await, Err(Trouble::TooLarge));
    }
}
