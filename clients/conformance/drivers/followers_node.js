// Follows many countdowns at once with the client for node. See trial_follow.py.

import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "../../node/countdownd.js";

const client = new Client({ timeout: 30_000 });

async function follow({ number, after, key, duration, ifRunning, forget, tick = 0 }) {
  await sleep(after * 1000);
  const types = [];
  let last;
  for await (const step of client.follow(key, { duration: duration * 1000, ifRunning, forget, tick: tick * 1000 })) {
    types.push(step.type);
    last = step;
  }
  const count = (...wanted) => types.filter((type) => wanted.includes(type)).length;
  process.stdout.write(`${JSON.stringify({
    number,
    type: last.type,
    lateUSec: last.late === undefined ? null : Math.round(last.late * 1000),
    startedUSec: last.countdown?.startedUSec ?? null,
    firsts: count("started"),
    lasts: count("finished", "cancelled", "gone"),
    aways: count("away"),
  })}\n`);
}

for await (const line of createInterface({ input: process.stdin })) follow(JSON.parse(line));
