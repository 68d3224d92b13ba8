#!/usr/bin/env bash
# Makes sure that schemathesis is here, which the tests of hostile input run over /openapi.json. It lives in a folder
# of its own under target/, so nothing of the system is changed.
set -euo pipefail
cd "$(dirname "$0")/.."

version=4.32.5
folder=target/tools/schemathesis

if "$folder/bin/schemathesis" --version 2> /dev/null | grep -qF "$version"; then
  exit 0
fi
if ! command -v python3 > /dev/null; then
  echo "python3 is missing: install Python 3.10 or newer, with its module venv." >&2
  exit 1
fi
rm -rf "$folder"
if ! python3 -m venv "$folder" > /dev/null; then
  echo "python3 cannot make a virtual environment: install its module venv (on Debian, python3-venv)." >&2
  exit 1
fi
"$folder/bin/pip" install --quiet --disable-pip-version-check "schemathesis==$version"
