//! The keys that seal secrets: from a variable, from a file, or made in the data folder.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use super::Error;
use crate::engine::keyring::Keyring;
use crate::settings::{SecretKey, Settings};

/// The file in the data folder.
const FILE: &str = "secret.key";

/// The keys of this host.
pub(super) fn load(settings: &Settings) -> Result<Keyring, Error> {
    if let Some(SecretKey(keys)) = &settings.secret_key {
        return parse(SecretKey::VARIABLE, keys);
    }
    if let Some(path) = &settings.secret_key_file {
        return read(path)?.ok_or_else(|| {
            Error::Config(format!(
                "secret_key_file: there is no file {}; make one, for example with \
                 `head -c 32 /dev/urandom | base64 > {}`",
                path.display(),
                path.display()
            ))
        });
    }
    let path = settings.data.join(FILE);
    if let Some(keyring) = read(&path)? {
        return Ok(keyring);
    }
    make(&path)?;
    read(&path)?.ok_or_else(|| Error::Config(format!("the key file {} is gone again", path.display())))
}

/// Keys from a file; none if there is no file.
fn read(path: &Path) -> Result<Option<Keyring>, Error> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(Error::Config(format!("the key file {} cannot be read: {error}", path.display())));
        }
    };
    if fs::metadata(path).is_ok_and(|about| about.permissions().mode() & 0o077 != 0) {
        tracing::warn!(file = %path.display(), "others may read the key file: chmod 600 it");
    }
    parse(&format!("the key file {}", path.display()), &text).map(Some)
}

fn parse(place: &str, text: &str) -> Result<Keyring, Error> {
    Keyring::parse(text).map_err(|why| Error::Config(format!("{place}: {why}")))
}

/// Makes a key. The file appears whole, and only if no other host has made one meanwhile.
fn make(path: &Path) -> Result<(), Error> {
    let failed = |error: std::io::Error| {
        Error::Config(format!("the key file {} cannot be made: {error}", path.display()))
    };
    let half = path.with_extension(format!("{}.part", uuid::Uuid::now_v7().simple()));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&half).map_err(failed)?;
    let written = writeln!(file, "{}", Keyring::make_up()).and_then(|()| file.sync_all());
    let linked = written.and_then(|()| fs::hard_link(&half, path));
    let _ = fs::remove_file(&half);
    match linked {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(failed(error)),
        Ok(()) => {
            tracing::warn!(
                file = %path.display(),
                "a key for secrets was made: keep a copy of it, since without it they are lost; other hosts on the \
                 same database need the same one (--secret-key-file)"
            );
            Ok(())
        }
    }
}
