// A worker on Camunda's own client: takes tasks of the topic `greet` and completes them with a greeting.
// Nothing here is about Stepwell but the address.

import { Client, logger, Variables } from "camunda-external-task-client-js";

const url = process.env.STEPWELL_URL ?? "http://127.0.0.1:8080";
const token = process.env.STEPWELL_TOKEN;

const client = new Client({
  baseUrl: `${url}/engine-rest`,
  // The client's own default is the same for everyone.
  workerId: process.env.WORKER_ID ?? `javascript-${process.pid}`,
  asyncResponseTimeout: 20000,
  lockDuration: 60000,
  use: logger.level("error"),
  interceptors: (config) =>
    token ? { ...config, headers: { ...config.headers, Authorization: `Bearer ${token}` } } : config,
});

client.subscribe("greet", async ({ task, taskService }) => {
  const name = task.variables.get("name");
  if (!name) {
    await taskService.handleFailure(task, { errorMessage: "there is no name to greet", retries: 0 });
    return;
  }
  const variables = new Variables().set("greeting", `Hello, ${name}!`);
  await taskService.complete(task, variables);
  console.log(`greeted ${name}`);
});
