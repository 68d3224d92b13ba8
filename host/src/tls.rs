//! The ciphers of outgoing connections: ring's, which the database's driver uses as well.

/// Makes them known to every client of this process. Has to come before the first of them; a repeat does nothing.
pub fn provide() {
    // An error says that somebody was quicker.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
