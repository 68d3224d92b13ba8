#!/usr/bin/env bash
# Makes sure that the Rust toolchain is here, with the target that plugins are built for.
set -euo pipefail
cd "$(dirname "$0")/.."

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
