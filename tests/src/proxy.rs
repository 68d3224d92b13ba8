//! A TCP proxy that can be cut: how a test takes a database away from a host, and gives it back.

use std::net::SocketAddr;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Stands between a host and a server.
#[derive(Debug)]
pub struct Proxy {
    /// Where it listens.
    pub address: SocketAddr,
    up: watch::Sender<bool>,
}

impl Proxy {
    /// A proxy to a server, up.
    pub async fn to(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("it has an address");
        let (up, state) = watch::channel(true);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(client, server.clone(), state.clone()));
            }
        });
        Self { address, up }
    }

    /// Cuts every connection; new ones are closed at once.
    pub fn cut(&self) {
        self.up.send_replace(false);
    }

    /// Lets connections through again.
    pub fn restore(&self) {
        self.up.send_replace(true);
    }
}

async fn pass(mut client: TcpStream, server: String, mut up: watch::Receiver<bool>) {
    if !*up.borrow_and_update() {
        return;
    }
    let Ok(mut upstream) = TcpStream::connect(server).await else { return };
    tokio::select! {
        _ = copy_bidirectional(&mut client, &mut upstream) => {}
        _ = up.wait_for(|up| !up) => {}
    }
}
