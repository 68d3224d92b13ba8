"""A worker in Python: takes tasks of the type `greet` and completes them with a greeting.

Needs nothing but Python 3.8 or newer.
"""

import json
import os
import signal
import sys
import time
import urllib.error
import urllib.request

URL = os.environ.get("STEPWELL_URL", "http://127.0.0.1:8080")
TOKEN = os.environ.get("STEPWELL_TOKEN")
WORKER = os.environ.get("WORKER_ID", f"python-{os.getpid()}")
TASKS = f"{URL}/api/n8n/external-tasks"

# What the host says when it is busy, or not there for a moment.
TRY_AGAIN = (429, 502, 503, 504)


def request(method, url, body=None, lock=None):
    """The status and the answer; again and again until there is one."""
    headers = {"content-type": "application/json"}
    if TOKEN:
        headers["authorization"] = f"Bearer {TOKEN}"
    if lock:
        headers["x-lock-token"] = lock
    data = None if body is None else json.dumps(body).encode()
    while True:
        try:
            asked = urllib.request.Request(url, data, headers, method=method)
            with urllib.request.urlopen(asked, timeout=60) as answer:
                text = answer.read()
                return answer.status, json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            if error.code not in TRY_AGAIN:
                return error.code, json.loads(error.read() or b"null")
        except OSError as error:
            print(f"no answer, trying again: {error}", flush=True)
        time.sleep(1)


def work(task):
    """What this worker is for."""
    name = task["input"].get("name")
    if not name:
        raise ValueError("there is no name to greet")
    return {"greeting": f"Hello, {name}!"}


def handle(task):
    report = f"{TASKS}/{task['id']}"
    try:
        output = work(task)
    except ValueError as error:
        failure = {"message": str(error), "noRetry": True}
        return request("POST", f"{report}/fail", failure, task["lockToken"])
    status, answer = request("POST", f"{report}/complete", output, task["lockToken"])
    # 409: the lock has ended and another worker has the task, or it was cancelled.
    print(output["greeting"] if status == 200 else f"not taken: {answer['detail']}", flush=True)


def goodbye():
    """What this worker still holds is offered to others at once, not at the end of its locks."""
    headers = {"authorization": f"Bearer {TOKEN}"} if TOKEN else {}
    said = urllib.request.Request(f"{URL}/api/v1/workers/{WORKER}/goodbye", b"", headers, method="POST")
    try:
        urllib.request.urlopen(said, timeout=5).close()
    except OSError as error:
        print(f"no goodbye: {error}", flush=True)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        while True:
            status, tasks = request("GET", f"{TASKS}/poll?taskType=greet&workerId={WORKER}&waitSeconds=30")
            if status >= 400:
                raise SystemExit(f"the host refuses: {tasks}")
            for task in tasks or []:
                handle(task)
    finally:
        goodbye()


if __name__ == "__main__":
    main()
