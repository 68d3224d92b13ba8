#!/usr/bin/env bash
# Makes sure that Camunda's own external-task clients are here, which the tests run unchanged: the one for JavaScript and
# the one for Python. Each lives in a folder of its own under target/, so nothing of the system is changed.
set -euo pipefail
cd "$(dirname "$0")/.."

js_version=3.1.0
python_version=4.5.0
# The Python client uses it and does not say so.
pydantic_version=2.12.5
js=target/tools/camunda-js
python=target/tools/camunda-python

if ! grep -qF "\"version\": \"$js_version\"" "$js/node_modules/camunda-external-task-client-js/package.json" 2> /dev/null; then
  if ! command -v npm > /dev/null; then
    echo "npm is missing: install Node.js 18 or newer." >&2
    exit 1
  fi
  rm -rf "$js"
  mkdir -p "$js"
  echo '{ "private": true, "type": "module" }' > "$js/package.json"
  npm install --prefix "$js" --silent --no-audit --no-fund "camunda-external-task-client-js@$js_version"
fi

if ! "$python/bin/pip" show camunda-external-task-client-python3 2> /dev/null | grep -qF "Version: $python_version"; then
  if ! command -v python3 > /dev/null; then
    echo "python3 is missing: install Python 3.10 or newer, with its module venv." >&2
    exit 1
  fi
  rm -rf "$python"
  if ! python3 -m venv "$python" > /dev/null; then
    echo "python3 cannot make a virtual environment: install its module venv (on Debian, python3-venv)." >&2
    exit 1
  fi
  "$python/bin/pip" install --quiet --disable-pip-version-check \
    "camunda-external-task-client-python3==$python_version" "pydantic==$pydantic_version"
fi
