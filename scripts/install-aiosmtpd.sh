#!/usr/bin/env bash
# Makes sure that aiosmtpd is here, the mail server that the tests of reminders send to, and trustme, which makes its
# certificate. They live in a folder of their own under target/, so nothing of the system is changed.
set -euo pipefail
cd "$(dirname "$0")/.."

server=1.4.6
certificates=1.2.1
folder=target/tools/aiosmtpd

if "$folder/bin/pip" freeze --disable-pip-version-check 2> /dev/null | grep -qxF "aiosmtpd==$server"; then
  exit 0
fi
if ! command -v python3 > /dev/null; then
  echo "python3 is missing: install Python 3.10 or newer, with its module venv." >&2
  exit 1
fi
# Tests that begin together install it once.
mkdir -p target/tools
exec 9> target/tools/aiosmtpd.lock
flock 9
if "$folder/bin/pip" freeze --disable-pip-version-check 2> /dev/null | grep -qxF "aiosmtpd==$server"; then
  exit 0
fi
rm -rf "$folder"
if ! python3 -m venv "$folder" > /dev/null; then
  echo "python3 cannot make a virtual environment: install its module venv (on Debian, python3-venv)." >&2
  exit 1
fi
"$folder/bin/pip" install --quiet --disable-pip-version-check "trustme==$certificates" "aiosmtpd==$server"
