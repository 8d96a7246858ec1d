// Drives the client for node: see clients/conformance/README.md.

import { createInterface } from "node:readline";
import { CallError, Client, CountdowndError, NoSuchCountdown } from "../../node/countdownd.js";

let watch;
let message;

/** The options of the client for parameters with the names of the interface. */
function options(parameters) {
  return Object.fromEntries(Object.entries(parameters).map(([name, value]) => {
    if (!name.endsWith("USec")) return [name, value];
    return [name.slice(0, -4), name === "deadlineUSec" ? new Date(value / 1000) : value / 1000];
  }));
}

const durations = ["duration", "remaining", "late", "retryAfter", "more"];

/** A result with the names and units of the interface. */
function wire(value) {
  if (Array.isArray(value)) return value.map(wire);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => {
    if (member instanceof Date) return [`${name}USec`, member.getTime() * 1000];
    return durations.includes(name) && member !== undefined ? [`${name}USec`, Math.round(member * 1000)] : [name, wire(member)];
  }));
}

async function perform({ do: what, timeoutUSec, ...given }) {
  const client = new Client({ timeout: timeoutUSec && timeoutUSec / 1000 });
  const { key, ...parameters } = options(given);
  try {
    switch (what) {
      case "path": return [{ path: client.path }];
      case "message": return [{ message }];
      case "start": return [await client.start(key, parameters)];
      case "startAll": return [await client.startAll(parameters.cooldowns.map(options), { dryRun: parameters.dryRun })];
      case "get": return [await client.get(key)];
      case "wait": return [await client.wait(key)];
      case "cancel": return [await client.cancel(key, parameters)];
      case "list": return [await client.list(parameters)];
      case "follow": {
        const steps = [];
        for await (const { error, ...step } of client.follow(key, parameters)) steps.push(error ? { ...step, error: error.name } : step);
        return [steps];
      }
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
  } finally {
    client.close();
  }
}

function result(error) {
  if (!(error instanceof CountdowndError)) throw error;
  ({ message } = error);
  if (!(error instanceof CallError)) return { error: error.name };
  const { countdown, retryAfter, limit, maximum, reason, parameter, oldestRevision } = error;
  const key = error instanceof NoSuchCountdown ? error.key : undefined; // the others have that of the call
  const fields = { key, countdown, retryAfter, limit, maximum, reason, parameter, oldestRevision };
  return { error: error.errorName.split(".").pop(), class: error.name, ...fields };
}

for await (const line of createInterface({ input: process.stdin })) {
  const results = await perform(JSON.parse(line)).catch((error) => [result(error)]);
  for (const one of results) process.stdout.write(`${JSON.stringify(wire(one))}\n`);
}
