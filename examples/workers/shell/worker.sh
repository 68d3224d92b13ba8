#!/bin/sh
# A worker in shell: takes tasks of the type `greet` and completes them with a greeting. Needs curl.
# Values are cut out of the JSON with sed, which is right for ids and plain text; with anything else, use jq.
set -u

url=${STEPWELL_URL:-http://127.0.0.1:8080}
worker=${WORKER_ID:-shell-$$}
tasks=$url/api/n8n/external-tasks

# request ARGUMENTS: the answer's body; fails without an answer, or with an error.
request() {
  curl -sS --fail-with-body --max-time 60 ${STEPWELL_TOKEN:+-H "authorization: Bearer $STEPWELL_TOKEN"} "$@"
}

# field NAME JSON: the first text of that name.
field() {
  printf '%s' "$2" | sed -n "s/.*[{,]\"$1\":\"\([^\"]*\)\".*/\1/p"
}

# report ID LOCK VERB BODY: again until the host has it; one that is refused is not ours any more.
report() {
  for _ in 1 2 3 4 5; do
    request -o /dev/null -X POST "$tasks/$1/$3" -H "x-lock-token: $2" -H 'content-type: application/json' -d "$4"
    # 22: the host answered with an error.
    case $? in 0 | 22) return ;; esac
    sleep 1
  done
}

while true; do
  if ! task=$(request "$tasks/poll?taskType=greet&workerId=$worker&waitSeconds=30"); then
    sleep 1
    continue
  fi
  id=$(field id "$task")
  [ -n "$id" ] || continue # There was none in time.
  lock=$(field lockToken "$task")
  name=$(field name "$task")
  if [ -n "$name" ]; then
    report "$id" "$lock" complete "{\"greeting\": \"Hello, $name!\"}"
    echo "greeted $name"
  else
    report "$id" "$lock" fail '{"message": "there is no name to greet", "noRetry": true}'
  fi
done
