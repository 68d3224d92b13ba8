#!/usr/bin/env bash
# Makes sure that the programs of a PostgreSQL server are here. The tests start servers of their own, so no
# service of the system is started, stopped or changed.
set -euo pipefail

installed() {
  compgen -G '/usr/lib/postgresql/*/bin/initdb' > /dev/null || command -v initdb > /dev/null
}

if installed; then
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo > /dev/null; then
    echo "PostgreSQL is missing, and neither root nor sudo is there to install it: install PostgreSQL 14 or newer." >&2
    exit 1
  fi
  as_root=(sudo)
fi
if ! command -v apt-get > /dev/null; then
  echo "PostgreSQL is missing, and there is no apt-get: install PostgreSQL 14 or newer." >&2
  exit 1
fi

# The package would make and start a cluster of its own; postgresql-common is told not to before it comes.
"${as_root[@]}" apt-get update
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends postgresql-common
"${as_root[@]}" sed -i "s/^#\?create_main_cluster.*/create_main_cluster = false/" \
  /etc/postgresql-common/createcluster.conf
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends postgresql
installed
