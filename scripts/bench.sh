#!/usr/bin/env bash
# Every measurement that BENCHMARKS.md quotes: on SQLite, and on a PostgreSQL server of its own with its default
# settings (so fsync and synchronous_commit are on) if PostgreSQL's programs are here. Results go to target/bench
# as JSON and SVG; a table is printed at the end.
#
#   SECONDS_EACH=20   seconds of each measurement
#   INSTANCES=200000  instances after which memory is read
#   PRELOAD=1000000   finished instances of the full database
set -euo pipefail
cd "$(dirname "$0")/.."

stepwell=target/release/stepwell
results=target/bench
seconds=${SECONDS_EACH:-20}
instances=${INSTANCES:-200000}
preload=${PRELOAD:-1000000}
mkdir -p "$results"
rm -f "$results"/*.json "$results"/*.svg

folder=$(mktemp -d "${TMPDIR:-/tmp}/stepwell-bench-XXXXXX")
programs=""
# PostgreSQL does not run as root.
owner() { if [ "$(id -u)" -eq 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }
clean_up() {
  if [ -n "$programs" ]; then owner "$programs/pg_ctl" -D "$folder/data" -m immediate stop > /dev/null 2>&1 || true; fi
  rm -rf "$folder"
}
trap clean_up EXIT

find_postgres() {
  local found
  found=$(compgen -G '/usr/lib/postgresql/*/bin/initdb' | sort -V | tail -n 1 || true)
  if [ -z "$found" ]; then found=$(command -v initdb || true); fi
  if [ -n "$found" ]; then dirname "$found"; fi
}

start_postgres() {
  port=$((20000 + RANDOM % 20000))
  chmod 755 "$folder"
  mkdir "$folder/data"
  if [ "$(id -u)" -eq 0 ]; then chown postgres "$folder" "$folder/data"; fi
  owner "$programs/initdb" -A trust -E UTF8 --locale=C -U stepwell -D "$folder/data" > /dev/null
  # 256 connections of the raw limit, beside the host's.
  printf "listen_addresses = '127.0.0.1'\nunix_socket_directories = ''\nmax_connections = 400\n" \
    >> "$folder/data/postgresql.conf"
  owner "$programs/pg_ctl" -D "$folder/data" -w -o "-p $port" -l "$folder/log" start > /dev/null
}

# A measurement that fails is told, and the others go on.
measure() {
  local name=$1
  shift
  echo "… $name: stepwell bench $*" >&2
  if ! "$stepwell" bench "$@" --json > "$results/$name.json"; then
    echo "  $name failed" >&2
    rm -f "$results/$name.json"
  fi
}

# The same on PostgreSQL, in a database of its own.
measure_on_postgres() {
  local name=$1
  shift
  local database="bench_${name//-/_}"
  owner "$programs/createdb" -h 127.0.0.1 -p "$port" -U stepwell "$database"
  measure "$name" "$@" --database "postgres://stepwell@127.0.0.1:$port/$database?sslmode=disable"
  owner "$programs/dropdb" -h 127.0.0.1 -p "$port" -U stepwell --force "$database"
}

everything() {
  local measure=$1 name=$2
  for workers in 64 256; do
    $measure "$name-$workers" external-task --workers "$workers" --seconds "$seconds" --half \
      --plot "$results/$name-$workers.svg"
    $measure "$name-$workers-ahead" external-task --workers "$workers" --seconds "$seconds" --half --ahead
  done
  $measure "$name-timers" timers
  $measure "$name-full" external-task --preload "$preload" --alternate 3 --seconds "$seconds"
  $measure "$name-memory" external-task --cycles "$instances" --no-raw
  $measure "$name-start" start --runs 10
  $measure "$name-workers" workers --seconds "$seconds"
  $measure "$name-parked" parked --pollers 1000 --seconds "$seconds"
}

measure plugin plugin --calls 20000
everything measure sqlite
programs=$(find_postgres)
if [ -n "$programs" ]; then
  start_postgres
  everything measure_on_postgres postgres
else
  echo "PostgreSQL's programs are not here (make postgres): measured on SQLite only" >&2
fi
"$stepwell" bench table "$results"
