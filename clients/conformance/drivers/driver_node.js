// Drives the client for node: see clients/conformance/README.md.

import { createInterface } from "node:readline";
import { CallError, Client, CountdowndError } from "../../node/countdownd.js";

let watch;
let message;

async function perform({ do: what, timeoutUSec, ...parameters }) {
  const client = new Client(undefined, { timeoutUSec });
  const { key, ...options } = parameters;
  switch (what) {
    case "path": return [{ path: client.path }];
    case "message": return [{ message }];
    case "start": return [await client.start(key, options)];
    case "get": return [await client.get(key)];
    case "wait": return [await client.wait(key)];
    case "cancel": return [await client.cancel(key, options)];
    case "list": return [await client.list(parameters)];
    case "watch":
      watch = client.watch(parameters);
      return [{}];
    case "next": {
      const events = [];
      while (events.length < parameters.count) {
        const { error, ...event } = (await watch.next()).value;
        events.push(error ? { ...event, error: error.name } : event);
      }
      return events;
    }
    default: throw new Error(`unknown command ${what}`);
  }
}

function result(error) {
  if (!(error instanceof CountdowndError)) throw error;
  ({ message } = error);
  if (!(error instanceof CallError)) return { error: error.name };
  const { key, countdown, retryAfterUSec, limit, maximum, reason, parameter, oldestRevision } = error;
  const fields = { key, countdown, retryAfterUSec, limit, maximum, reason, parameter, oldestRevision };
  return { error: error.errorName.split(".").pop(), class: error.name, ...fields };
}

for await (const line of createInterface({ input: process.stdin })) {
  const results = await perform(JSON.parse(line)).catch((error) => [result(error)]);
  for (const one of results) process.stdout.write(`${JSON.stringify(one)}\n`);
}
