// The table of follow, with the state machine of the client for node: node --test test_node_follow.js.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as countdownd from "../node/countdownd.js";
import { Following } from "../node/follow.js";

const { countdowns, scenarios, token } = JSON.parse(readFileSync(new URL("follow.json", import.meta.url), "utf8"));
const begin = 1_700_000_000_000_000;

/** A countdown of the table with the names and units of the client. */
function known({ startedUSec, deadlineUSec, remainingUSec, ...countdown }) {
  const deadline = deadlineUSec && { deadline: new Date(deadlineUSec / 1000) };
  return { ...countdown, startedUSec, started: new Date(startedUSec / 1000), ...deadline, remaining: remainingUSec / 1000 };
}

function errorOf({ name, countdown, ...parameters }) {
  const kind = countdownd[name];
  if (name === "NoDaemon") return new kind("the table", { code: "ENOENT" });
  if (name === "TimedOut") return new kind(5);
  if (!(kind.prototype instanceof countdownd.CallError)) return new kind(name);
  return new kind(`io.countdownd.${name}`, { ...parameters, countdown: countdowns[countdown] });
}

function eventOf({ countdown, error, remainingUSec, lateUSec, ...event }) {
  if (error) return { ...event, error: errorOf({ name: error }) };
  const durations = { ...(remainingUSec != null && { remaining: remainingUSec / 1000 }), ...(lateUSec != null && { late: lateUSec / 1000 }) };
  return { ...event, ...durations, ...(countdown && { countdown: known(countdowns[countdown]) }) };
}

function answerOf({ event, reply, error, listed }) {
  if (reply) return { outcome: reply.outcome, countdown: known(countdowns[reply.countdown]) };
  return error ? errorOf(error) : { event: eventOf(event), listed: listed && known(countdowns[listed]) };
}

/** The acts and steps until the next input, and the error. */
function put(generator, answer) {
  const row = { acts: [], steps: [] };
  try {
    for (let given = answer; ; given = undefined) {
      const { done, value } = generator.next(given);
      if (done) row.acts.push({ act: "close" });
      else if (value.start) row.acts.push({ act: "start", afterUSec: value.pause * 1000, parameters: value.start });
      if (done || value.start || value.read) return row;
      if (value.step) row.steps.push(value.step);
      else row.acts.push({ act: "rewatch" });
    }
  } catch (error) {
    row.acts.push({ act: "close" });
    return { ...row, raises: error.name };
  }
}

function checkStep(step, row, place) {
  assert.equal(step.type, row.type, place);
  assert.equal(step.late, row.lateUSec === undefined ? undefined : row.lateUSec / 1000, place);
  if (row.remainingUSec !== undefined) assert.equal(step.remaining, row.remainingUSec / 1000, place);
  if (!row.countdown) return assert.equal(step.countdown, undefined, place);
  const countdown = known(countdowns[row.countdown]);
  for (const name of ["state", "startedUSec", "deadline", "revision", "metadata"]) {
    assert.deepEqual(step.countdown[name], countdown[name], place);
  }
}

for (const { name, follow, rows } of scenarios) {
  test(name, () => {
    let now = 0;
    const missing = follow.missingOk ? undefined : () => errorOf({ name: "NoSuchCountdown", key: follow.key });
    const start = follow.start ? { ...follow.start, key: follow.key } : undefined;
    const generator = new Following(start, { missing, token, clock: () => now }).acts();
    assert.ok(generator.next().value.read);
    for (const { in: given, acts, steps, raises } of rows) {
      const place = JSON.stringify(given);
      now = (given.atUSec ?? begin) / 1000;
      const row = put(generator, answerOf(given));
      assert.deepEqual({ acts: row.acts, raises: row.raises }, { acts, raises }, place);
      assert.equal(row.steps.length, steps.length, place);
      for (const [number, step] of row.steps.entries()) checkStep(step, steps[number], place);
    }
  });
}
