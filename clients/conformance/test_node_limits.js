// The limiter, the middleware, the relay and the test daemon for node: node --test test_node_limits.js.
// It needs express, which NODE_PATH=/usr/share/nodejs finds as a package of Debian, and COUNTDOWND_PROGRAM.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { Client, Disconnected, InvalidParameter, NoDaemon } from "../node/countdownd.js";
import { rateLimit, Relay } from "../node/express.js";
import { limitKey, Limiter, rateLimitHeaders, Refused, retryAfterHeader } from "../node/limiter.js";
import { startDaemon } from "../node/testing.js";

const express = createRequire(import.meta.url)("express");

/** The signal of a limit, so that a test that hangs fails. */
const limit = { timeout: 60_000 };
const patience = 20_000;
const hour = 3_600_000;

let daemon;
let client;
before(async () => {
  daemon = await startDaemon();
  client = daemon.client();
});
after(() => daemon.stop());

/** Options for machines that are busy with other tests. */
const calm = () => ({ path: daemon.path, timeout: patience, firstTimeout: patience, onFailure: "closed" });

/** Lets an application answer at an address. */
async function listen(t, app) {
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => { server.closeAllConnections(); server.close(); });
  return `http://127.0.0.1:${server.address().port}`;
}

/** An application with the middleware. It counts the requests that were let pass. */
async function serve(t, options) {
  const app = express();
  const passed = [];
  app.use(rateLimit({ ...calm(), key: (request) => request.query.user, ...options }));
  app.use(express.json());
  app.all("/", (request, response) => {
    passed.push(request.rateLimit);
    response.send("done");
  });
  app.use((error, request, response, next) => response.status(500).send(error.name));
  return { address: await listen(t, app), passed };
}

async function ask(url, options) {
  const response = await fetch(url, options);
  const headers = Object.fromEntries(response.headers);
  return { status: response.status, headers, body: await response.text(), policy: headers["ratelimit-policy"], state: headers.ratelimit };
}

// Keys

test("a value that is no plain text is hashed, and an IPv6 address is its /64", limit, () => {
  const table = JSON.parse(readFileSync(new URL("./values.json", import.meta.url)));
  assert(table.cases.length > 0);
  const { cases, addresses, texts, lists, refused } = table;
  for (const { name, value, key } of [...cases, ...texts]) assert.equal(limitKey("ip", value), key, name ?? value);
  for (const { name, values, key } of addresses) for (const value of values) assert.equal(limitKey("ip", value), key, `${name}: ${value}`);
  for (const { values, key } of lists) assert.equal(limitKey("ip", values), key);
  // Values that only a program for node can have.
  const hash = (text) => `n/~${createHash("sha256").update(text).digest("base64url").slice(0, 22)}`;
  const others = [
    [undefined, hash("")], ["\u{1F375}\0\n", hash("\u{1F375}\0\n")], ["\ud800", hash(Buffer.from("eda080", "hex"))],
    [["\udbff", "\\ud800"], hash(Buffer.concat([Buffer.from('["'), Buffer.from("edafbf", "hex"), Buffer.from('","\\\\ud800"]')]))],
    [-0, "n/0"], [12n, "n/12"], [2n ** 80n, `n/${2n ** 80n}`], [["1", "2"], hash('["1","2"]')],
  ];
  for (const [value, key] of others) assert.equal(limitKey("n", value), key);
  const wrong = [...refused, {}, { toString: 1 }, Object.create(null), new Date(0), NaN, 2 ** 53, Promise.resolve("a"), () => "a", Symbol("a"),
    new String("a"), Buffer.from("a"), new Map()];
  for (const value of wrong) assert.throws(() => limitKey("n", value), { name: "TypeError", message: /^a key is a / });
});

test("a text of any length is read in a time that grows with it", limit, () => {
  const long = 2_000_000;
  for (const part of [" ", '"', ":", ":1", ":_", "[", "%", "\ud800\u0100"]) limitKey("n", `${part.repeat(long / 10)}x${part.repeat(long / 10)}x`);
});

// The limiter

test("hypervel/components#594, langfuse#14280: a call that one limit refuses takes nothing from the others", limit, async () => {
  const limiter = new Limiter({ tokens: "10/1h", calls: "1/1h" }, calm());
  assert.equal((await limiter.take("594")).accepted, true);
  const refused = await limiter.take("594");
  assert.equal(refused.accepted, false);
  assert.deepEqual(refused.limits.map(({ name, left, hasRoom }) => [name, left, hasRoom]), [["tokens", 9, true], ["calls", 0, false]]);
  assert(refused.retryAfter > hour - 60_000 && refused.retryAfter <= hour);
});

test("loopback4-ratelimiter#91: 3 a minute and 30 a day", limit, async () => {
  const limiter = new Limiter({ login: ["3/1m", "30/1d"] }, calm());
  for (const left of [2, 1, 0]) {
    const { accepted, limits } = await limiter.take("91");
    assert.deepEqual([accepted, limits[0].left, limits[1].left], [true, left, 27 + left]);
  }
  assert.equal((await limiter.take("91")).accepted, false);
  assert.deepEqual((await client.list({ match: ["login/91*"] })).map(({ key, forget }) => [key, forget]).sort(),
    [["login/91", true], ["login/91/1d", true]]);
  await daemon.advance(20_000);
  const later = await limiter.take("91");
  assert.deepEqual([later.accepted, later.limits[0].left], [true, 0]);
});

test("async-ratelimiter#52, node-ratelimiter#69, upstash/ratelimit-js#17 #56 #80 #111: looking takes nothing", limit, async () => {
  const limiter = new Limiter({ sms: "2/1h" }, calm());
  for (let count = 0; count < 3; count += 1) {
    const { accepted, limits } = await limiter.look("52");
    assert.deepEqual([accepted, limits[0].left, limits[0].more], [true, 2, undefined]);
  }
  await limiter.take("52");
  await limiter.take("52");
  assert.equal((await limiter.look("52")).accepted, false);
});

test("BitMEX/node-redis-token-bucket-ratelimiter#6: a page shows a countdown, or a button", limit, async () => {
  const limiter = new Limiter({ button: "1/60s" }, calm());
  assert.equal((await limiter.look("6")).retryAfter, undefined);
  await limiter.take("6");
  const { retryAfter } = await limiter.look("6");
  assert(retryAfter > 30_000 && retryAfter <= 60_000);
});

test("work that fails gives its call back, and work that is refused is not done", limit, async () => {
  const limiter = new Limiter({ codes: ["1/60s", "5/1h"] }, calm());
  const failure = new Error("no network");
  await assert.rejects(limiter.run("138", () => { throw failure; }), failure);
  assert.equal(await limiter.run("138", async () => "sent"), "sent");
  const refused = await limiter.run("138", () => assert.fail("was done")).catch((error) => error);
  assert(refused instanceof Refused);
  assert.deepEqual([refused.code, refused.limits[1].left], ["REFUSED", 4]);
  assert(refused.retryAfter > 30_000 && refused.retryAfter <= 60_000);
  assert.doesNotMatch(refused.message, /138/);
});

test("a call is given back once, though others were counted since, and not to a countdown that was started anew", limit, async () => {
  const limiter = new Limiter({ back: "5/1h" }, calm());
  const first = await limiter.take("1");
  await limiter.take("1");
  await first.giveBack();
  await first.giveBack();
  assert.equal((await limiter.look("1")).limits[0].left, 4);
  const old = await limiter.take("2");
  await client.cancel("back/2");
  await old.giveBack();
  await limiter.take("2");
  await old.giveBack();
  const other = await limiter.take("3");
  await client.cancel("back/3");
  await limiter.take("3");
  await other.giveBack();
  assert.equal((await limiter.look("2")).limits[0].left, 4);
  assert.equal((await limiter.look("3")).limits[0].left, 4);
});

test("a call may count as several, and r counts calls of weight 1", limit, async () => {
  const limiter = new Limiter({ tokens: "10/1h" }, calm());
  const { limits } = await limiter.take("7", { weight: 4 });
  assert.equal(limits[0].left, 6);
  assert.equal((await limiter.take("7", { weight: 7 })).accepted, false);
  assert.equal((await limiter.look("7")).limits[0].left, 6);
  await assert.rejects(limiter.take("7", { weight: 11 }), InvalidParameter);
});

test("a value may be waited for, and no object leaves a limit out", limit, async () => {
  const limiter = new Limiter({ user: ["1/1h", "5/1d"], ip: "9/1h" }, calm());
  assert.equal((await limiter.take(Promise.resolve({ user: Promise.resolve("a1"), ip: async () => {} }).then(({ user }) => ({ user, ip: 1 })))).accepted, true);
  assert.equal((await limiter.take({ user: "a1", ip: undefined })).accepted, false);
  assert.equal((await limiter.take(Object.assign(Object.create(null), { user: "a2", ip: null }))).accepted, true);
  const objects = [{}, { user: "a1" }, { ip: 1 }, { user: "a", ip: 1, daily: 2 }, { users: "a", ip: 1 }, Object.create({ user: "a", ip: 1 })];
  for (const values of [...objects, new Map(), new Date(), () => "a", true, 1.5, { user: {}, ip: 1 }, { user: "a", ip: Promise.resolve({}) }]) {
    await assert.rejects(limiter.take(values), TypeError);
    await assert.rejects(limiter.look(values), TypeError);
  }
  // Whatever the value's program throws is no failure of the daemon.
  const open = new Limiter({ a: "1/1h" }, { ...calm(), onFailure: "open" });
  const fault = new Disconnected("of another daemon");
  await assert.rejects(open.take(Promise.reject(fault)), fault);
});

test("a telephone number that looks like the key of a further rate has its own", limit, async () => {
  const limiter = new Limiter({ phone: ["1/1h", "5/1d"] }, calm());
  for (const number of ["138", "138/1d", "138/1h", "1d"]) assert.equal((await limiter.take(number)).accepted, true, number);
  for (const number of ["138", "138/1d", "138/1h", "1d"]) assert.equal((await limiter.take(number)).limits[1].left, 4, number);
});

test("what happens without a daemon has to be said", limit, () => {
  assert.throws(() => new Limiter({ a: "1/1s" }, {}), /onFailure is undefined; expected open or closed/);
  assert.throws(() => new Limiter({ a: "1/1s" }), TypeError);
  assert.throws(() => new Limiter({}, calm()), TypeError);
  assert.throws(() => new Limiter({ 'a"b': "1/1s" }, calm()), RangeError);
  assert.throws(() => new Limiter({ a: "1" }, calm()), RangeError);
  assert.throws(() => rateLimit({ limits: { a: "1/1s" }, ...calm() }), /no key; expected a function/);
});

test("a limit that the daemon refuses is an error in both modes", limit, async () => {
  const limits = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`many${index}`, "1/1s"]));
  for (const onFailure of ["open", "closed"]) {
    const limiter = new Limiter(limits, { ...calm(), onFailure });
    await assert.rejects(limiter.ready());
    await assert.rejects(limiter.take("a"));
  }
});

test("without a daemon, open lets pass and closed refuses; after a second one request tries", limit, async () => {
  const own = await startDaemon();
  try {
    const told = [];
    const options = { ...calm(), path: own.path, onError: (error) => told.push(error) };
    const open = new Limiter({ a: "1/1h" }, { ...options, onFailure: "open" });
    const closed = new Limiter({ a: "1/1h" }, options);
    await Promise.all([open.ready(), closed.ready()]);
    assert.equal((await closed.take("1")).accepted, true);
    await own.kill();
    for (let count = 0; count < 3; count += 1) {
      assert.equal((await open.take("1")).accepted, true);
      const refused = await closed.take("1");
      assert.deepEqual([refused.accepted, refused.limits, refused.retryAfter], [false, [], 1000]);
    }
    assert.equal(told.length, 2); // each once
    const failure = await closed.run("1", () => assert.fail("was done")).catch((error) => error);
    assert(failure.code === "NO_DAEMON" || failure.code === "DISCONNECTED", failure.code);
    await own.start();
    for (const end = Date.now() + patience; (await closed.take("2")).error;) {
      assert(Date.now() < end, "the daemon was not asked again");
      await new Promise((resolve) => { setTimeout(resolve, 50); });
    }
    assert.equal((await closed.take("1")).accepted, false, "the limit has survived the daemon");
  } finally {
    await own.stop();
  }
});

test("while the daemon fails, it is asked once per second, and not for each request", limit, async (t) => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  const path = join(tmpdir(), `countdownd-${process.pid}`);
  server.listen(path);
  t.after(() => server.close());
  await once(server, "listening");
  const begin = performance.now();
  const limiter = new Limiter({ a: "1/1h" }, { ...calm(), path, onError: () => {} });
  for (let count = 0; count < 100; count += 1) assert.equal((await limiter.take("1")).error.code, "DISCONNECTED");
  assert(connections >= 1 && connections <= 2 + (performance.now() - begin) / 1000, `${connections} connections`);
});

test("a daemon that is slow on a busy machine is waited for", limit, async (t) => {
  const server = createServer((socket) => {
    socket.on("data", (data) => {
      const { dryRun, cooldowns: [{ key }] } = JSON.parse(String(data).slice(0, -1)).parameters;
      const parameters = { accepted: true, rooms: [{ key, left: 1 }] };
      setTimeout(() => socket.write(`${JSON.stringify({ parameters })}\0`), dryRun ? 0 : 100);
    });
    t.after(() => socket.destroy());
  });
  const path = join(tmpdir(), `countdownd-slow-${process.pid}`);
  server.listen(path);
  t.after(() => server.close());
  await once(server, "listening");
  const limiter = new Limiter({ slow: "1/1h" }, { path, onFailure: "open" });
  const decision = await limiter.take("1");
  assert.deepEqual([decision.accepted, decision.error, decision.limits.length], [true, undefined, 1]);
  limiter.close();
});

// Headers

test("headers are those of draft-11, and Retry-After agrees with them", limit, () => {
  const burst = { name: "burst", times: 3, period: 600_000, left: 2, more: 199_001, hasRoom: true };
  const fine = { name: "fine/250ms", times: 1, period: 250, left: 1, hasRoom: true };
  assert.deepEqual(rateLimitHeaders({ accepted: true, limits: [burst, fine] }), {
    "RateLimit-Policy": '"burst";q=3;w=600, "fine/250ms";q=1', RateLimit: '"burst";r=2;t=200, "fine/250ms";r=1',
  });
  const refused = { accepted: false, limits: [{ ...burst, left: 0, more: 1, hasRoom: false }, fine], retryAfter: 1 };
  assert.equal(rateLimitHeaders(refused).RateLimit, '"burst";r=0;t=1');
  assert.deepEqual(retryAfterHeader(refused), { "Retry-After": "1" });
  assert.deepEqual(retryAfterHeader({ accepted: false, limits: [] }), {});
  assert.deepEqual(rateLimitHeaders({ accepted: true, limits: [] }), {});
});

// express

test("a request is accepted with its figures, or refused with 429 and a problem", limit, async (t) => {
  const { address, passed } = await serve(t, { limits: { burst: "2/10m", daily: "30/1d" } });
  const first = await ask(`${address}/?user=138`);
  assert.deepEqual([first.status, first.body, first.policy], [200, "done", '"burst";q=2;w=600, "daily";q=30;w=86400']);
  assert.match(first.state, /^"burst";r=1;t=(300|299), "daily";r=29;t=28[78]\d$/);
  await ask(`${address}/?user=138`);
  const refused = await ask(`${address}/?user=138`, { method: "POST", body: '{"a":1}', headers: { "content-type": "application/json" } });
  assert.equal(refused.status, 429);
  const [, seconds] = /^"burst";r=0;t=(\d+)$/.exec(refused.state);
  assert.equal(refused.headers["retry-after"], seconds);
  assert.equal(refused.headers["content-type"], "application/problem+json");
  assert.deepEqual(JSON.parse(refused.body), {
    type: "https://iana.org/assignments/http-problem-types#quota-exceeded",
    title: "Request cannot be satisfied as assigned quota has been exceeded", status: 429, "violated-policies": ["burst"],
  });
  assert.equal((await ask(`${address}/?user=139`)).status, 200);
  assert.equal(passed.length, 3);
  await passed[2].giveBack();
  assert.equal((await client.list({ keys: ["burst/139"] })).length, 0);
});

test("a strange value turns no limit off", limit, async (t) => {
  const { address } = await serve(t, { limits: { strange: "1/1h" }, key: (request) => request.query.user });
  const queries = ["", "?user=", "?user=%00%0a", `?user=${"x".repeat(9000)}`, "?user=1&user=2", "?user=%ff", "?user=a/1d"];
  for (const query of queries.slice(1)) {
    assert.equal((await ask(`${address}/${query}`)).status, 200, query);
    assert.equal((await ask(`${address}/${query}`)).status, 429, query);
  }
  assert.equal((await ask(`${address}/`)).status, 429); // as the empty one
  for (const query of ["?user[toString]=1", "?user[strange]=1", "?user[strange]=2"]) {
    assert.deepEqual([(await ask(`${address}/${query}`)).status, (await ask(`${address}/${query}`)).body], [500, "TypeError"]);
  }
});

test("GrottoCenter/grottocenter-api#1787: a visitor has one address, however a proxy writes it", limit, async (t) => {
  const { address } = await serve(t, { limits: { proxied: "3/1h" }, key: (request) => request.get("x-real-ip") });
  const asked = async (forms) => Promise.all(forms.map(async (form) => (await ask(address, { headers: form && { "x-real-ip": form } })).status));
  const ports = Array.from({ length: 10 }, (_, index) => 51_000 + index);
  for (const form of ["203.0.113.9:", "[2001:db8:9::1]:", "[fe80::9%eth0]:", "[64:ff9b::203.0.113.10]:", "::ffff:203.0.113.11:"]) {
    const statuses = await asked(ports.map((port) => `${form}${port}`));
    assert.deepEqual([statuses.filter((status) => status === 200).length, statuses.includes(500)], [3, false], form);
  }
  assert.deepEqual((await asked(["64:ff9b::203.0.113.12", "::ffff:203.0.113.12", "203.0.113.12"])), [200, 200, 200]);
  assert.equal((await asked(["203.0.113.12"]))[0], 429);
  // Visitors behind NAT64 are told apart; one without an address is one visitor.
  assert.deepEqual(await asked(["64:ff9b::198.51.100.1", "64:ff9b::198.51.100.2", "64:ff9b::198.51.100.3", "64:ff9b::198.51.100.4"]), [200, 200, 200, 200]);
  assert.deepEqual((await asked([undefined, undefined, undefined, undefined])).sort(), [200, 200, 200, 429]);
});

test("an error after the decision goes to the application, which goes on", limit, async (t) => {
  const unhandled = [];
  process.on("unhandledRejection", (error) => unhandled.push(error));
  t.after(() => process.removeAllListeners("unhandledRejection"));
  const faults = {
    throws: () => { throw new SyntaxError("tea"); }, rejects: async () => { throw new SyntaxError("tea"); },
    "writes a field too late": (request, response) => { response.end("no"); response.setHeader("X-Tea", "cold"); },
  };
  for (const [how, refused] of Object.entries(faults)) {
    const { address } = await serve(t, { limits: { [how.slice(0, 7).trim()]: "1/1h" }, refused });
    assert.equal((await ask(address)).status, 200);
    const { status, body } = await ask(address);
    assert.deepEqual([status, body], how === "writes a field too late" ? [429, "no"] : [500, "SyntaxError"], how);
  }
  // Something else has answered: before the middleware, and while it asks.
  for (const when of ["before", "meanwhile"]) {
    const app = express();
    const done = [];
    const answer = (response) => response.send("early");
    if (when === "before") app.use((request, response, next) => { answer(response); next(); });
    app.use(rateLimit({ ...calm(), limits: { [when]: "1/1h" }, key: (request) => { if (when === "meanwhile") answer(request.res); return "a"; } }));
    app.use((request, response) => done.push(request.rateLimit.accepted));
    const address = await listen(t, app);
    for (let count = 0; count < 3; count += 1) assert.deepEqual([(await ask(address)).body, (await ask(address)).status], ["early", 200]);
    for (const end = Date.now() + patience; (await client.list({ keys: [`${when}/a`] })).length === 0;) assert(Date.now() < end);
    assert.deepEqual(done.slice(0, 2), [true]);
  }
  assert.deepEqual(unhandled, []);
});

test("a route may have limits of its own, and the fields are those of both", limit, async (t) => {
  const app = express();
  const key = (request) => request.query.user;
  const sent = [];
  app.use(rateLimit({ ...calm(), limits: { site: "5/1h" }, key }));
  app.post("/login", rateLimit({ ...calm(), limits: { "site/login": "2/1h" }, key }), (request, response) => {
    sent.push(request.rateLimit);
    response.send(request.rateLimit.limits.map(({ name, left }) => `${name} ${left}`).join());
  });
  app.get("/", (request, response) => response.send(String(request.rateLimit.limits.length)));
  const address = await listen(t, app);
  const login = () => ask(`${address}/login?user=1`, { method: "POST" });
  const first = await login();
  assert.deepEqual([first.body, first.policy], ["site 4,site/login 1", '"site";q=5;w=3600, "site/login";q=2;w=3600']);
  assert.match(first.state, /^"site";r=4;t=\d+, "site\/login";r=1;t=\d+$/);
  await login();
  const refused = await login();
  assert.equal(refused.status, 429);
  assert.match(refused.state, /^"site\/login";r=0;t=\d+$/);
  assert.deepEqual(JSON.parse(refused.body)["violated-policies"], ["site/login"]);
  assert.equal((await ask(`${address}/?user=1`)).body, "1");
  assert.equal((await ask(`${address}/?user=1`)).body, "1");
  assert.equal((await ask(`${address}/?user=1`)).status, 429);
  await sent[0].giveBack();
  assert.equal((await login()).body, "site 0,site/login 0");
});

test("limits may have keys of their own, and the application may answer", limit, async (t) => {
  const { address } = await serve(t, {
    limits: { phone: { rates: ["1/60s", "5/1h"], key: ({ query }) => query.phone }, guests: "2/1h" },
    key: async ({ query }) => query.ip,
    headers: null,
    refused: (request, response, { limits }) => response.json(limits.filter(({ hasRoom }) => !hasRoom).map(({ name }) => name)),
  });
  const first = await ask(`${address}/?phone=1&ip=a`);
  assert.deepEqual([first.status, first.policy, first.state], [200, undefined, undefined]);
  const phone = await ask(`${address}/?phone=1&ip=a`);
  assert.deepEqual([phone.status, phone.body], [429, '["phone"]']);
  assert.equal((await ask(`${address}/?phone=2&ip=a`)).status, 200);
  assert.equal((await ask(`${address}/?phone=3&ip=a`)).body, '["guests"]');
});

test("a preflight request does not count, and another OPTIONS does", limit, async (t) => {
  const { address } = await serve(t, { limits: { preflight: "1/1h" } });
  const preflight = { method: "OPTIONS", headers: { origin: "https://example.org", "access-control-request-method": "POST" } };
  for (let count = 0; count < 3; count += 1) assert.equal((await ask(address, preflight)).policy, undefined);
  assert.equal((await ask(address, { method: "OPTIONS" })).status, 200);
  assert.equal((await ask(address, { method: "OPTIONS" })).status, 429);
});

test("an error of the key goes to the application, as does one of the limits", limit, async (t) => {
  const { address } = await serve(t, { limits: { key: "1/1h" }, key: () => { throw new SyntaxError("tea"); } });
  assert.deepEqual([(await ask(address)).status, (await ask(address)).body], [500, "SyntaxError"]);
  const { address: other } = await serve(t, { limits: { weight: "1/1h" }, weight: () => 2 });
  assert.deepEqual([(await ask(other)).status, (await ask(other)).body], [500, "InvalidParameter"]);
});

test("if the limits cannot be checked, closed is 503 and open is the answer", limit, async (t) => {
  const onError = () => {};
  const gone = { path: "/missing/socket", limits: { gone: "1/1h" }, onError };
  const { address } = await serve(t, gone);
  const refused = await ask(address);
  assert.deepEqual([refused.status, refused.headers["retry-after"], refused.policy], [503, "1", undefined]);
  assert.deepEqual(JSON.parse(refused.body), { title: "The limits cannot be checked", status: 503 });
  const { address: open } = await serve(t, { ...gone, onFailure: "open" });
  assert.deepEqual([(await ask(open)).status, (await ask(open)).body], [200, "done"]);
});

test("express-rate-limit#51: of 2,000 requests at once to 8 workers, a limit of 100 per hour accepts exactly 100", limit, async (t) => {
  const program = new URL("drivers/cluster_node.js", import.meta.url).pathname;
  const server = spawn(process.execPath, [program], {
    stdio: ["pipe", "pipe", "inherit"], env: { ...process.env, COUNTDOWND_SOCKET: daemon.path },
  });
  t.after(() => server.stdin.end());
  const [address] = await once(server.stdout, "data");
  const agent = new Agent({ maxSockets: 500 });
  const answers = await Promise.all(Array.from({ length: 2000 }, () => new Promise((resolve, reject) => {
    get(String(address).trim(), { agent }, (response) => {
      let body = "";
      response.on("data", (data) => { body += data; });
      response.on("end", () => resolve({ status: response.statusCode, body }));
    }).on("error", reject);
  })));
  const statuses = new Map();
  for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  assert.deepEqual([...statuses].sort(), [[200, 100], [429, 1900]]);
  const workers = new Set(answers.filter(({ status }) => status === 200).map(({ body }) => body));
  assert(workers.size > 1, `only ${workers.size} worker has accepted requests`);
});

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

test("a page may name countdowns by a function, which is also asked about new ones", limit, async (t) => {
  const own = await startDaemon();
  t.after(() => own.stop());
  const ownClient = own.client();
  const told = [];
  const app = express();
  const relay = new Relay({ client: own.client(), onError: (error) => told.push(error.message) });
  t.after(() => relay.close());
  app.get("/:user", relay.handler(({ params: { user } }) => (key) => {
    if (user === "broken" && key.endsWith("/new")) throw new SyntaxError("tea");
    if (user === "wrong" && key.endsWith("/new")) return Promise.resolve("tea");
    return key.startsWith(`jobs/${user}/`) ? key.slice(`jobs/${user}/`.length) : undefined;
  }));
  const address = await listen(t, app);
  await ownClient.start("jobs/1/old", { duration: hour });
  await ownClient.start("jobs/2/old", { duration: hour });
  const broken = await Promise.all(["broken", "wrong"].map((user) => fetch(`${address}/${user}`)));
  const page = eventsOf(await fetch(`${address}/1`));
  const next = async () => Object.values((await page.next()).value).slice(0, 2).join(" ");
  assert.equal(await next(), "old running");
  for (const key of ["jobs/2/new", "jobs/1/new"]) await ownClient.start(key, { duration: hour });
  assert.equal(await next(), "new running");
  await ownClient.cancel("jobs/1/old");
  assert.equal(await next(), "old cancelled");
  // The pages whose function is broken have ended, and no other.
  for (const response of broken) await assert.rejects(response.text());
  assert.deepEqual(told.sort(), ["tea", "the name of a countdown is a object; expected a string, or null"]);
});

test("a page that may see nothing does not connect again, and what is no names is an error", limit, async (t) => {
  const app = express();
  const relay = new Relay({ client: daemon.client() });
  t.after(() => relay.close());
  const given = { null: null, undefined, text: "tea", number: 5, keys: { a: 5 }, missing: { a: undefined } };
  app.get("/:kind", relay.handler(({ params }) => given[params.kind]));
  app.get("/answers/itself", relay.handler((request, response = request.res) => void response.status(401).end()));
  app.use((error, request, response, next) => response.status(500).send(error.name));
  const address = await listen(t, app);
  for (const kind of ["null", "undefined"]) assert.equal((await fetch(`${address}/${kind}`)).status, 204);
  for (const kind of ["text", "number", "keys", "missing"]) {
    const response = await fetch(`${address}/${kind}`);
    assert.deepEqual([response.status, await response.text()], [500, "TypeError"], kind);
  }
  assert.equal((await fetch(`${address}/answers/itself`)).status, 401);
});

test("a page that does not read gets the last state alone when it reads again", limit, async (t) => {
  const own = await startDaemon();
  t.after(() => own.stop());
  const ownClient = own.client();
  const relay = new Relay({ client: own.client() });
  t.after(() => relay.close());
  /** A page, and what it was sent. */
  const open = async (writableNeedDrain) => {
    const response = Object.assign(new EventEmitter(), { setHeader() {}, flushHeaders() {}, end() {}, sent: [], writableNeedDrain });
    response.write = (text) => response.sent.push(...text.split("\n\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(6)));
    await relay.handler(() => ({ a: "a", b: "b", same: "b" }))({ ip: "::1" }, response, assert.fail);
    return response;
  };
  const shown = (page) => page.sent.splice(0).map((text) => JSON.parse(text)).map(({ name, state }) => `${name} ${state}`);
  const [reader, sleeper] = [await open(false), await open(true)];
  for (let count = 0; count < 200; count += 1) {
    await ownClient.start("a", { ifRunning: "restart", duration: hour });
    await ownClient.start("b", { ifRunning: "restart", duration: hour });
  }
  await ownClient.pause("a");
  await ownClient.finish("b");
  const until = async (state) => {
    for (const end = Date.now() + patience, all = []; !all.includes(state); all.push(...shown(reader))) {
      assert(Date.now() < end, state);
      await new Promise(setImmediate);
    }
  };
  await until("same finished");
  assert.deepEqual(sleeper.sent, []);
  sleeper.writableNeedDrain = false;
  sleeper.emit("drain");
  assert.deepEqual(shown(sleeper).sort(), ["a paused", "b finished", "same finished"]);
  await ownClient.resume("a");
  await until("a running");
  assert.deepEqual(shown(sleeper), ["a running"]);
});

// The test daemon

test("a test daemon ends with its process, however that ends, and nothing is left of it", limit, async (t) => {
  const program = `
    const { startDaemon } = await import(${JSON.stringify(new URL("../node/testing.js", import.meta.url).href)});
    const daemon = await startDaemon();
    if (process.argv[1] === "restarted") await daemon.restart();
    console.log(daemon.path);
    if (process.argv[1] === "throws") throw new Error("tea");
    if (process.argv[1] !== "ends") setInterval(() => {}, 1000);`;
  for (const how of ["ends", "throws", "SIGINT", "SIGTERM", "SIGKILL", "restarted"]) {
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program, how], {
      env: { ...process.env, NODE_TEST_CONTEXT: undefined }, stdio: ["ignore", "pipe", "ignore"],
    });
    t.after(() => child.kill("SIGKILL"));
    const [output] = await once(child.stdout, "data");
    const path = String(output).trim();
    if (how === "restarted") await new Client({ path }).status();
    if (how.startsWith("SIG") || how === "restarted") child.kill(how === "restarted" ? "SIGKILL" : how);
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    for (const end = Date.now() + patience; existsSync(dirname(path)) || (await isThere(path));) assert(Date.now() < end, how);
  }
});

const isThere = (path) => new Client({ path }).status().then(() => true, () => false);

test("many test daemons, relays and limiters in one process are no leak", limit, async (t) => {
  const warnings = [];
  process.on("warning", (warning) => warnings.push(warning));
  const own = await Promise.all(Array.from({ length: 12 }, () => startDaemon()));
  const relays = own.map(() => new Relay({ client: daemon.client() }));
  const limiters = own.map(() => new Limiter({ a: "1/1h" }, calm()));
  await Promise.all(limiters.map((limiter) => limiter.take("many")));
  for (const relay of relays) relay.close();
  for (const limiter of limiters) limiter.close();
  await Promise.all(own.map((each) => each.stop()));
  await new Promise(setImmediate);
  assert.deepEqual(warnings, []);
});

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

test("a follow ends with the time that a test advances, and outlives a restart", limit, async (t) => {
  const own = await startDaemon();
  t.after(() => own.stop());
  const types = [];
  for await (const { type } of own.client().follow("tea", { duration: hour, tick: 0 })) {
    types.push(type);
    if (type === "started") await own.restart();
    if (type === "attached") await own.advance(hour);
  }
  assert.deepEqual(types, ["started", "away", "attached", "finished"]);
});

test("a follow that is left, or whose signal is aborted, closes its watch, leaves the queue and the countdown", limit, async (t) => {
  const own = await startDaemon();
  t.after(() => own.stop());
  const tea = own.client();
  const rests = async (name) => {
    for (const end = Date.now() + patience; ; ) {
      const status = await tea.status();
      if (name ? status[name] > 0 : status.watchers + status.queuedStarts === 0) return;
      assert(Date.now() < end);
    }
  };
  for await (const { type } of tea.follow("tea", { duration: hour })) {
    assert.equal(type, "started");
    break;
  }
  await rests();
  const controller = new AbortController();
  const reason = new Error("enough");
  const aborted = tea.follow("tea", { signal: controller.signal });
  assert.equal((await aborted.next()).value.type, "attached");
  controller.abort(reason);
  await assert.rejects(async () => { while (!(await aborted.next()).done); }, reason);
  const queued = tea.follow("tea", { duration: hour, ifRunning: "wait" });
  const step = queued.next();
  await rests("queuedStarts");
  await queued.return();
  assert.deepEqual(await step, { done: true, value: undefined });
  await rests();
  assert.equal((await tea.get("tea")).state, "running");
});

test("a test daemon that cannot start says why, and one that is stopped is gone", limit, async () => {
  await assert.rejects(startDaemon({ program: "/missing/countdownd" }), /does not start: .*ENOENT/);
  await assert.rejects(startDaemon({ program: "/bin/false" }), /does not start: it exited with 1/);
  const own = await startDaemon();
  await own[Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]();
  await assert.rejects(new Client({ path: own.path }).get("tea"), NoDaemon);
});
