#!/usr/bin/env bash
# Makes sure that compilers, the headers of OpenSSL and the Rust toolchain are here, and a way to compile for the target of
# plugins.
set -euo pipefail
cd "$(dirname "$0")/.."

target=wasm32-unknown-unknown

# Installs Debian packages, where that is possible.
install() {
  local as_root=()
  if ! command -v apt-get > /dev/null; then
    return 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo > /dev/null || return 1
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

if ! command -v cc > /dev/null && ! install gcc libc6-dev; then
  echo "A C compiler is missing: install gcc and the headers of the C library." >&2
  exit 1
fi
# The client of Kafka is compiled from source, against the OpenSSL of the system.
if { ! command -v c++ || ! command -v make || ! pkg-config --exists openssl; } > /dev/null 2>&1 &&
  ! install g++ libssl-dev make pkg-config; then
  echo "The client of Kafka needs a C++ compiler, make, pkg-config and the headers of OpenSSL: install them." >&2
  exit 1
fi
if ! command -v rustup > /dev/null; then
  if command -v cargo > /dev/null; then
    echo "There is no rustup: using the cargo that is here ($(cargo --version))." >&2
    exit 0
  fi
  echo "Rust is missing: install rustup, which reads rust-toolchain.toml." >&2
  exit 1
fi
# Installs what rust-toolchain.toml names.
rustup show active-toolchain > /dev/null 2>&1 || rustup toolchain install
# Where rustup cannot bring the target, the build uses Debian's Rust, which has the library's source.
if ! rustup target list --installed | grep -qx "$target" && ! rustup target add "$target"; then
  install rustc-web cargo-web rust-web-src || true
fi
