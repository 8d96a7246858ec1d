// The relay and the test daemon for node: node --test test_node_kit.js.
// It needs express, which NODE_PATH=/usr/share/nodejs finds as a package of Debian, and COUNTDOWND_PROGRAM.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { Client, InvalidParameter, NoDaemon } from "../node/countdownd.js";
import { Relay } from "../node/express.js";
import { startDaemon } from "../node/testing.js";

const express = createRequire(import.meta.url)("express");

/** The signal of a limit, so that a test that hangs fails. */
const limit = { timeout: 60_000 };
const patience = 20_000;
const hour = 3_600_000;

let daemon;
before(async () => {
  daemon = await startDaemon();
});
after(() => daemon.stop());

/** Lets an application answer at an address. */
async function listen(t, app) {
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => { server.closeAllConnections(); server.close(); });
  return `http://127.0.0.1:${server.address().port}`;
}

// The relay

/** The events of a page. */
async function* eventsOf(response) {
  let text = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
      if (text.startsWith("data: ")) yield JSON.parse(text.slice(6, end));
    }
  }
}

test("a relay shows many pages the countdowns that are theirs, with one watch", limit, async (t) => {
  const own = await startDaemon();
  t.after(() => own.stop());
  const app = express();
  const relay = new Relay({ client: own.client(), match: ["login/*"], pagesPerAddress: 11 });
  t.after(() => relay.close());
  app.get("/events/:user", relay.handler(({ params }) => ({ button: `login/${params.user}`, other: `login/${params.user}/other` })));
  app.get("/broken", relay.handler(() => { throw new SyntaxError("tea"); }));
  app.use((error, request, response, next) => response.status(500).send(error.name));
  const address = await listen(t, app);
  const controller = new AbortController();
  const open = async (user) => {
    const response = await fetch(`${address}/events/${user}`, { signal: controller.signal });
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    return eventsOf(response);
  };
  const next = async (page) => (await page.next()).value;
  const ownClient = own.client();
  await ownClient.start("login/1", { duration: hour, label: "Code" });
  const pages = await Promise.all(Array.from({ length: 10 }, () => open(1)));
  for (const page of pages) {
    const { remaining, ...shown } = await next(page);
    assert.deepEqual(shown, { name: "button", state: "running", duration: hour, label: "Code" });
    assert(remaining > hour - 60_000 && remaining <= hour);
    assert.deepEqual(await next(page), { name: "other", state: "none", remaining: 0, duration: 0 });
  }
  const stranger = await open(2);
  assert.equal((await next(stranger)).state, "none");
  assert.equal((await next(stranger)).state, "none");
  assert.equal((await ownClient.status()).watchers, 1);
  assert.deepEqual([(await fetch(`${address}/events/3`)).status, (await fetch(`${address}/broken`)).status], [429, 500]);
  // The stranger is sent nothing of the first account.
  for (const method of ["pause", "resume", "finish"]) await ownClient[method]("login/1");
  await ownClient.start("login/2");
  assert.deepEqual([(await next(stranger)).name, pages.length], ["button", 10]);
  for (const page of pages) {
    const states = [(await next(page)).state, (await next(page)).state, (await next(page)).state];
    assert.deepEqual(states, ["paused", "running", "finished"]);
  }
  // A restart shows no page anything, and it counts on.
  await own.restart();
  await own.client().cancel("login/2");
  assert.equal((await next(stranger)).state, "cancelled");
  relay.close();
  assert.equal(await next(stranger), undefined);
  assert.equal((await fetch(`${address}/events/1`)).status, 503);
  controller.abort();
});

test("a relay without a daemon says nothing, and shows the state once there is one", limit, async (t) => {
  const own = await startDaemon();
  t.after(() => own.stop());
  await own.client().start("login/1", { duration: hour });
  await own.kill();
  const app = express();
  const relay = new Relay({ client: own.client() });
  t.after(() => relay.close());
  app.get("/", relay.handler(() => ({ button: "login/1" })));
  const page = eventsOf(await fetch(await listen(t, app)));
  await own.start();
  assert.equal((await page.next()).value.state, "running");
});

test("a relay whose watch is refused ends its pages and says why", limit, async (t) => {
  const told = [];
  const app = express();
  const relay = new Relay({ client: daemon.client(), match: [""], onError: (error) => told.push(error) });
  app.get("/", relay.handler(() => ({})));
  const address = await listen(t, app);
  await (await fetch(address)).text();
  assert(told[0] instanceof InvalidParameter);
});

// The test daemon

test("time passes in a test daemon as it would outside", limit, async (t) => {
  const own = await startDaemon();
  t.after(() => own.stop());
  const tea = own.client();
  const ends = [];
  const watch = tea.watch({ tick: 0 });
  await watch.next();
  await tea.start("long", { duration: 2 * hour });
  await tea.start("b", { duration: 60_000 });
  await tea.start("a", { duration: 50_000, forget: true });
  await tea.start("still", { duration: 60_000 });
  await tea.pause("still");
  const queued = tea.start("b", { duration: 100_000, ifRunning: "wait" });
  for (const end = Date.now() + patience; (await tea.status()).queuedStarts === 0;) assert(Date.now() < end);
  await own.advance(70_000);
  await queued;
  const near = (value, expected) => assert(value <= expected && value > expected - patience, `${value}, not ${expected}`);
  near((await tea.get("long")).remaining, 2 * hour - 70_000);
  near((await tea.get("b")).remaining, 90_000);
  near((await tea.get("still")).remaining, 60_000);
  while (ends.length < 2) {
    const { type, key } = (await watch.next()).value;
    if (type === "finished") ends.push(key);
  }
  assert.deepEqual(ends, ["a", "b"]);
  await own.restart();
  near((await tea.get("b")).remaining, 90_000);
  await watch.return();
});

test("a test daemon that cannot start says why, and one that is stopped is gone", limit, async () => {
  await assert.rejects(startDaemon({ program: "/missing/countdownd" }), /does not start: .*ENOENT/);
  await assert.rejects(startDaemon({ program: "/bin/false" }), /does not start: it exited with 1/);
  const own = await startDaemon();
  await own[Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]();
  await assert.rejects(new Client({ path: own.path }).get("tea"), NoDaemon);
});
