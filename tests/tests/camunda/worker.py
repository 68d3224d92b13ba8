"""Workers on Camunda's own client for Python, unchanged. The test starts instances and looks at what became of them."""

import os
import threading

from camunda.client.engine_client import EngineClient
from camunda.external_task.external_task_worker import ExternalTaskWorker

URL = os.environ["STEPWELL_URL"] + "/engine-rest"
TOKEN = os.environ["STEPWELL_TOKEN"]
CONFIG = {
    "auth_bearer": {"access_token": TOKEN},
    "maxTasks": 1,
    "lockDuration": 60000,
    "asyncResponseTimeout": 5000,
    "httpTimeoutMillis": 60000,
    "timeoutDeltaMillis": 60000,
    "sleepSeconds": 1,
}


def types(task):
    return task.complete(
        {
            "aNull": None,
            "aBoolean": True,
            "anInteger": 42,
            "aLong": 9_000_000_000,
            "aDouble": 1.5,
            "aString": "words",
            "aList": [1, "two", None],
            "aDict": {"a": {"b": 1}},
            "aTyped": {"value": 7, "type": "Long"},
            "aDate": {"value": "2026-11-16T01:55:23.456+0000", "type": "Date"},
            "aJson": {"value": "{\"x\":[1]}", "type": "Json"},
            "aFile": {"value": "aGVsbG8=", "type": "File", "valueInfo": {"filename": "hello.txt"}},
        },
        {"onlyHere": "local"},
    )


def echo(task):
    variables = task.get_variables()
    names = ["aBoolean", "anInteger", "aLong", "aDouble", "aString", "aList", "aDict", "aTyped", "aDate", "aJson"]
    seen = {name: variables[name] for name in names}
    seen["nullIsThere"] = "aNull" in variables and variables["aNull"] is None
    seen["file"] = task.get_variable("aFile", with_meta=True)
    seen["businessKey"] = task.get_business_key()
    engine = EngineClient(URL, {"auth_bearer": {"access_token": TOKEN}})
    seen["content"] = engine.get_process_instance_variable(task.get_process_instance_id(), "aFile")
    return task.complete({"seen": seen})


def flaky(task):
    retries = task._context["retries"]
    if retries is None or retries > 1:
        return task.failure(f"attempt with {retries}", "at line 1", max_retries=2, retry_timeout=200)
    return task.complete({"lastError": task._context["errorMessage"]})


def business_error(task):
    return task.bpmn_error("NO_CREDIT", "the account is empty", {"amount": 12})


def picky(task):
    return task.complete({"picked": task.get_variable("colour")})


def work(topic, handler, process_variables=None):
    # A worker id that is a number, as some have it.
    worker = ExternalTaskWorker(worker_id=7, base_url=URL, config=CONFIG)
    thread = threading.Thread(target=worker.subscribe, args=(topic, handler, process_variables), daemon=True)
    thread.start()
    return thread


threads = [
    work("py-types", types),
    work("py-echo", echo),
    work("py-flaky", flaky),
    work("py-business-error", business_error),
    work(["py-picky"], picky, {"colour": "blue"}),
]
for thread in threads:
    thread.join()
