// Workers on Camunda's own client for JavaScript, unchanged. The test starts instances and looks at what became of them.
import { writeFileSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BasicAuthInterceptor, Client, File, Variables } from "camunda-external-task-client-js";

const { STEPWELL_URL, STEPWELL_TOKEN } = process.env;
const client = new Client({
  baseUrl: `${STEPWELL_URL}/engine-rest`,
  workerId: "js",
  maxTasks: 10,
  interval: 50,
  lockDuration: 60_000,
  asyncResponseTimeout: 5_000,
  interceptors: new BasicAuthInterceptor({ username: "anyone", password: STEPWELL_TOKEN }),
});
const complain = (what) => (...about) => {
  console.error(what, ...about);
  process.exitCode = 1;
};
for (const event of ["poll", "complete", "handleFailure", "handleBpmnError", "extendLock", "unlock", "lock"]) {
  client.on(`${event}:error`, complain(event));
}
client.on("handler:error", complain("handler"));

const when = new Date("2026-11-16T01:55:23.456Z");

// Sets a variable of every type.
client.subscribe("js-types", async ({ task, taskService }) => {
  const path = join(mkdtempSync(join(tmpdir(), "stepwell-js-")), "hello.txt");
  writeFileSync(path, "hello from a file");
  const file = await new File({ localPath: path, mimetype: "text/plain", encoding: "UTF-8" }).load();
  const variables = new Variables();
  variables.setAll({
    aNull: null, aBoolean: true, anInteger: 42, aLong: 9_000_000_000, aDouble: 1.5, aString: "words",
    aDate: when, aJson: { list: [1, "two", null] }, aFile: file,
  });
  variables.setTyped("aShort", { type: "short", value: 7, valueInfo: {} });
  variables.setTyped("aSmallLong", { type: "long", value: 7, valueInfo: {} });
  variables.setTyped("someBytes", { type: "bytes", value: "AAEC", valueInfo: {} });
  variables.setTyped("anXml", { type: "xml", value: "<a/>", valueInfo: {} });
  variables.setTyped("anObject", {
    type: "object", value: '{"name":"x"}',
    valueInfo: { objectTypeName: "org.example.Thing", serializationDataFormat: "application/json" },
  });
  variables.setTransient("gone", "not kept");
  const local = new Variables();
  local.set("onlyHere", "local");
  await taskService.complete(task, variables, local);
});

// Gets them back, in another task of the same instance.
client.subscribe("js-echo", async ({ task, taskService }) => {
  const all = task.variables.getAllTyped();
  const file = await task.variables.get("aFile").load();
  const seen = new Variables();
  seen.set("seen", {
    types: Object.fromEntries(Object.entries(all).map(([name, typed]) => [name, typed.type])),
    aNull: all.aNull.value, aBoolean: all.aBoolean.value, anInteger: all.anInteger.value, aLong: all.aLong.value,
    aDouble: all.aDouble.value, aString: all.aString.value, sameDate: all.aDate.value.getTime() === when.getTime(),
    aJson: all.aJson.value, aShort: all.aShort.value, someBytes: all.someBytes.value, anXml: all.anXml.value,
    anObject: all.anObject.value, objectTypeName: all.anObject.valueInfo.objectTypeName,
    file: { name: file.filename, mimetype: file.mimetype, encoding: file.encoding, content: file.content.toString() },
    businessKey: task.businessKey, retries: task.retries, priority: task.priority,
  });
  await taskService.complete(task, seen);
});

// Fails twice, waiting a little longer each time, then completes.
client.subscribe("js-flaky", async ({ task, taskService }) => {
  if (task.retries === null || task.retries > 1) {
    const retries = task.retries === null ? 2 : task.retries - 1;
    await taskService.handleFailure(task, {
      errorMessage: `attempt with ${task.retries}`, errorDetails: "at line 1", retries, retryTimeout: 200,
    });
    return;
  }
  const result = new Variables();
  result.set("lastError", `${task.errorMessage}, ${task.errorDetails}`);
  await taskService.complete(task, result);
});

client.subscribe("js-gives-up", async ({ task, taskService }) => {
  await taskService.handleFailure(task, { errorMessage: "no use", errorDetails: "a stack", retries: 0, retryTimeout: 0 });
});

client.subscribe("js-business-error", async ({ task, taskService }) => {
  const variables = new Variables();
  variables.set("amount", 12);
  await taskService.handleBpmnError(task, "NO_CREDIT", "the account is empty", variables);
});

// Takes the lock for longer, under a lock duration of its own.
client.subscribe("js-extends", { lockDuration: 30_000 }, async ({ task, taskService }) => {
  await taskService.extendLock(task, 120_000);
  const answer = await fetch(`${STEPWELL_URL}/engine-rest/external-task/${task.id}`, {
    headers: { authorization: `Bearer ${STEPWELL_TOKEN}` },
  });
  const shown = await answer.json();
  const longer = new Date(shown.lockExpirationTime) - new Date(task.lockExpirationTime);
  const result = new Variables();
  result.set("extended", longer > 60_000);
  await taskService.complete(task, result);
});

// Gives the task back the first time, and locks it anew the second time.
let givenBack = false;
client.subscribe("js-unlocks", async ({ task, taskService }) => {
  if (!givenBack) {
    givenBack = true;
    await taskService.unlock(task);
    return;
  }
  await taskService.lock(task, 60_000);
  const result = new Variables();
  result.set("givenBack", true);
  await taskService.complete(task, result);
});

// Only two of the variables, and only its own.
client.subscribe("js-some", { variables: ["wanted"] }, async ({ task, taskService }) => {
  const result = new Variables();
  result.set("got", Object.keys(task.variables.getAll()));
  await taskService.complete(task, result);
});
