#!/usr/bin/env bash
# Makes sure that n8n is here, which `make test-n8n` runs as a worker. It lives in a folder of its own under target/
# (1 GB, three minutes the first time), so nothing of the system is changed.
#
# Nothing is compiled: n8n keeps its data in PostgreSQL in the test, so the driver of SQLite, which would be, is not
# needed. The nodes for language models, which are more than half of it, are left out: an empty package is in their place.
set -euo pipefail
cd "$(dirname "$0")/.."

version=2.8.4
folder=target/tools/n8n

# `start` is the command that loads the most; n8n calls one whose parts do not load "not found".
installed() {
  local n8n=$1/node_modules/n8n/bin/n8n
  node "$n8n" --version 2> /dev/null | grep -qxF "$version" &&
    N8N_USER_FOLDER="$1/home" node "$n8n" start --help > /dev/null 2>&1
}

if installed "$folder"; then
  exit 0
fi
if ! node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' 2> /dev/null ||
  ! command -v npm > /dev/null; then
  echo "Node.js is missing or too old: n8n $version needs 20.19 or newer, with npm." >&2
  exit 1
fi
rm -rf "$folder" "$folder.part"
mkdir -p "$folder.part/no-language-models"
echo '{ "name": "@n8n/n8n-nodes-langchain", "version": "0.0.1", "exports": { "./mcp/core": "./nothing.js" } }' \
  > "$folder.part/no-language-models/package.json"
echo 'module.exports = {};' > "$folder.part/no-language-models/nothing.js"
# The xlsx that n8n names is on its maker's own site; the node that reads spreadsheets does not matter here. Newer
# checkpoints want a newer core of langchain than the one that this n8n names.
cat > "$folder.part/package.json" << END
{
  "private": true,
  "dependencies": { "n8n": "$version" },
  "overrides": {
    "xlsx": "0.18.5",
    "@langchain/langgraph-checkpoint": "1.0.0",
    "@n8n/n8n-nodes-langchain": "file:./no-language-models"
  }
}
END
echo "installing n8n $version, which takes a few minutes …" >&2
(cd "$folder.part" &&
  npm install --install-links --ignore-scripts --omit=optional --omit=dev --legacy-peer-deps --no-audit --no-fund --loglevel=error)
if ! installed "$folder.part"; then
  echo "n8n was installed, but does not start." >&2
  exit 1
fi
mv "$folder.part" "$folder"
