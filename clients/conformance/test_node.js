// What only the client for node has to do: node --test test_node.js. COUNTDOWND_NODE_CLIENT names another file to test.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { getEventListeners, once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { inspect } from "node:util";

const file = process.env.COUNTDOWND_NODE_CLIENT ?? new URL("../node/countdownd.js", import.meta.url).pathname;
const countdownd = await import(resolve(file));
const { Client } = countdownd;
const { parseRate, rateKeys } = await import("../node/rate.js");

const number = "+49 171 138";
const countdown = {
  key: number, state: "running", clock: "elapsed", durationUSec: 60_000_000, remainingUSec: 60_000_000,
  startedUSec: 1_700_000_000_000_001, deadlineUSec: 1_700_000_060_000_001, label: number, forget: false, revision: 7,
};

/** A server that gives each call, with its connection, to the function. */
async function serve(t, answer) {
  const folder = mkdtempSync(join(tmpdir(), "countdownd-"));
  const sockets = new Set();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("data", (data) => {
      for (const call of data.toString().split("\0").slice(0, -1)) answer(socket, JSON.parse(call));
    });
  });
  server.listen(join(folder, "socket"));
  await once(server, "listening");
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
    rmSync(folder, { recursive: true });
  });
  return { path: join(folder, "socket"), server };
}

const write = (socket, message) => socket.write(`${JSON.stringify(message)}\0`);

/** The signal of a limit, so that a test that hangs fails. */
const limit = { timeout: 20_000 };

test("each error has its class and its name, also after a minifier has renamed the classes", limit, async (t) => {
  const parameters = {
    key: number, countdown, retryAfterUSec: 5, oldestRevision: 6, limit: "keys", maximum: 7, reason: "disk full",
    parameter: "until", method: "io.countdownd.Get",
  };
  const names = ["NoSuchCountdown", "AlreadyRunning", "RevisionMismatch", "WrongState", "HistoryTrimmed", "LimitReached",
    "StorageFailed", "Unreachable"].map((name) => `io.countdownd.${name}`);
  names.push(...["InvalidParameter", "MethodNotFound", "PermissionDenied"].map((name) => `org.varlink.service.${name}`));
  const { path } = await serve(t, (socket, call) => write(socket, { error: call.parameters.key, parameters }));
  for (const name of names) {
    const error = await new Client({ path }).get(name).catch((error) => error);
    assert(error instanceof countdownd[name.split(".").pop()], `${name} is a ${error.constructor.name}`);
    assert.equal(error.name, name.split(".").pop());
    assert.match(error.stack, new RegExp(`^${error.name}: the daemon refused the call: ${error.name}`));
    // Neither the message nor console.log shows a key, which is often a telephone number.
    assert.doesNotMatch(inspect(error), /138/);
    assert.equal(error.parameters.key, number);
    assert(error.key !== undefined);
  }
  const unknown = await new Client({ path }).get("org.example.TeaIsCold").catch((error) => error);
  assert.equal(unknown.name, "CallError");
  assert.equal(unknown.code, "TEA_IS_COLD");
  for (const [name, kind] of Object.entries(countdownd)) if (name !== "Client") assert.equal(kind.prototype.name, name);
});

test("an error has a code, and the key of its call", limit, async (t) => {
  const { path } = await serve(t, (socket, { parameters: { key } }) => {
    if (key === "tea") return socket.destroy();
    const error = "io.countdownd.AlreadyRunning";
    return write(socket, { error, parameters: { countdown: { ...countdown, key }, retryAfterUSec: 1500 } });
  });
  const client = new Client({ path });
  const refused = await client.start("coffee", { ifRunning: "fail" }).catch((error) => error);
  assert.deepEqual([refused.code, refused.key, refused.retryAfter], ["ALREADY_RUNNING", "coffee", 1.5]);
  assert.deepEqual(refused.countdown.deadline, new Date(1_700_000_060_000));
  assert.equal(refused.countdown.remaining, 60_000);
  const left = await client.get("tea").catch((error) => error);
  assert.deepEqual([left.code, left.key], ["DISCONNECTED", "tea"]);
  const missing = await new Client({ path: "/missing" }).get("tea").catch((error) => error);
  assert.deepEqual([missing.code, missing.key, missing.cause.code], ["NO_DAEMON", "tea", "ENOENT"]);
  assert.doesNotMatch(inspect(missing), /tea/);
});

test("an older daemon is named as the reason", limit, async (t) => {
  const { path } = await serve(t, (socket, { method }) => {
    const parameters = { method, parameter: "ifRunning" };
    write(socket, { error: `org.varlink.service.${method.endsWith("Start") ? "InvalidParameter" : "MethodNotFound"}`, parameters });
  });
  const client = new Client({ path });
  const newer = /; this needs a newer countdownd; restart it after the upgrade$/;
  await assert.rejects(client.startAll([{ key: "tea" }]), { name: "MethodNotFound", message: newer });
  await assert.rejects(client.start("tea", { ifRunning: "later" }), { name: "InvalidParameter", message: newer });
  const error = await client.start("tea", { ifRunning: "latter" }).catch((error) => error);
  assert.doesNotMatch(error.message, newer);
});

test("milliseconds, Dates and rates are sent as microseconds", limit, async (t) => {
  const calls = [];
  const { path } = await serve(t, (socket, { method, parameters }) => {
    calls.push(parameters);
    const rooms = [{ key: number, left: 2, moreUSec: 200_500, countdown }, { key: "b", left: 1 }];
    write(socket, { parameters: method.endsWith("StartAll") ? { accepted: true, rooms } : { outcome: "started", countdown } });
  });
  const client = new Client({ path });
  const deadline = new Date(4_000_000_000_123);
  await client.start("a", { duration: 0.001, upTo: 1.5, ifRunning: "extend" });
  await client.start("a", { deadline, metadata: { "__proto__": "x" } });
  await client.start("a", { rate: "3/10m" });
  await client.start("a", { rate: "7/1s", ifRunning: "wait" });
  await client.adjust("a", { by: -1000, ifRevision: 7 });
  const { rooms } = await client.startAll([{ key: "a", rate: "30/1d", forget: true }, { key: "b", duration: 5 }], { dryRun: true });
  assert.deepEqual(calls, [
    { key: "a", durationUSec: 1, upToUSec: 1500, ifRunning: "extend" },
    { key: "a", deadlineUSec: 4_000_000_000_123_000, metadata: {} },
    { key: "a", durationUSec: 200_000_000, upToUSec: 600_000_000, ifRunning: "extend" },
    { key: "a", durationUSec: 142_858, upToUSec: 1_000_006, ifRunning: "wait" },
    { key: "a", byUSec: -1_000_000, ifRevision: 7 },
    { cooldowns: [
      { key: "a", durationUSec: 2_880_000_000, upToUSec: 86_400_000_000, forget: true }, { key: "b", durationUSec: 5000 },
    ], dryRun: true },
  ]);
  assert.deepEqual([rooms[0].left, rooms[0].more, rooms[0].countdown.started], [2, 200.5, new Date(1_700_000_000_000)]);
});

test("what is no duration, deadline or rate is refused before it is sent", limit, async () => {
  const client = new Client({ path: "/missing" });
  const faults = [
    { duration: "60" }, { duration: NaN }, { duration: 1e300 }, { deadline: 5 }, { deadline: new Date(NaN) }, { rate: "5" },
    { rate: "0/1h" }, { rate: "5/h" }, { rate: "5/1y" }, { rate: "2/1us" }, { rate: "-1/1h" }, { rate: 5 },
    { rate: "5/1h", duration: 5 },
  ];
  for (const fault of faults) await assert.rejects(client.start("tea", fault), { name: "RangeError" }, inspect(fault));
});

test("a message that is no reply is not shown, because it may contain a key", limit, async (t) => {
  const { path } = await serve(t, (socket) => socket.write(`{"parameters":{"key":"${number}"\0`));
  const error = await new Client({ path }).get(number).catch((error) => error);
  assert(error instanceof countdownd.ProtocolError);
  assert.doesNotMatch(inspect(error), /138/);
});

test("a number that is no safe integer is refused before it is sent", limit, async () => {
  const client = new Client({ path: "/missing" });
  for (const value of [NaN, Infinity, -Infinity, 1.5, 2 ** 53]) {
    const expected = { name: "RangeError", message: `durationUSec is ${value}; expected a safe integer` };
    await assert.rejects(client.call("Start", { key: "tea", durationUSec: value }), expected);
    await assert.rejects(client.start("tea", { queueUpTo: value }), RangeError);
  }
  assert.throws(() => client.watch({ tick: NaN }), RangeError);
  for (const timeout of [0, -1, NaN, "soon"]) assert.throws(() => new Client({ timeout }), RangeError);
});

test("what cannot be one call is refused, and the calls beside it are answered", limit, async (t) => {
  const { path } = await serve(t, (socket, { parameters: { key } }) => {
    write(socket, { parameters: { countdown: { ...countdown, key }, outcome: "started" } });
  });
  const nested = (levels) => Array.from({ length: levels }).reduce((inner) => [inner], "leaf");
  const cyclic = {};
  cyclic.itself = cyclic;
  const client = new Client({ path });
  const invalid = [
    ...["\ud83c", "\udf75", "\udf75\ud83c", "a\ud83c\n\udf75", "\ud83c\\udf75"].flatMap((half) => [
      () => client.get(half), () => client.wait(half), () => client.start("a", { label: half }),
      () => client.start("a", { metadata: { [half]: "a" } }), () => client.start("a", { ifRunning: half }),
      () => client.startAll([{ key: "a" }, { key: half }]), () => client.list({ match: [half] }), () => client.watch({ keys: [half] }).next(),
      () => client.call(`Get${half}`), () => client.call("Get", { [half]: 1 }), () => client.call("Get", { key: new String(half) }),
      () => client.call("Get", { key: { toJSON: () => half } }), () => client.call("Get", { "io.example": { deep: [half] } }),
    ]),
    ...[63, 64, 30_000].map((levels) => () => client.start("a", { metadata: nested(levels) })),
    ...["tea", 5, true, [], ["tea"], new Date(0), new String("tea"), { toJSON: () => [] }].map((parameters) => () => client.call("Get", parameters)),
  ];
  const keys = invalid.flatMap((_, index) => [`${index}a`, `${index}b`]);
  const found = invalid.map(async (call, index) => {
    const before = client.get(`${index}a`);
    const refused = await call().then(() => "made", (error) => error);
    assert(refused instanceof countdownd.InvalidCall, `${call}: ${refused}`);
    return [(await before).key, (await client.get(`${index}b`)).key];
  });
  assert.deepEqual((await Promise.all(found)).flat(), keys);
  for (const whole of ["🍵", "\ud83c\udf75", "\\ud83c", "\\\\ud83c", "\0\n\u2028"]) {
    assert.equal((await client.start(whole, { label: whole, metadata: { [whole]: nested(61) } })).countdown.key, whole);
  }
  await assert.rejects(client.call("Get", { key: 5n }), { name: "RangeError", message: "key is 5; expected a safe integer" });
  await assert.rejects(client.call("Get", { key: new Number(NaN) }), RangeError);
  await assert.rejects(client.call("Get", cyclic), TypeError);
});

test("a call that waits has its own connection, however it says so", limit, async (t) => {
  const { path } = await serve(t, (socket, { method, parameters }) => {
    if (method === "io.countdownd.Get") write(socket, { parameters: { countdown: { ...countdown, key: parameters.key } } });
  });
  const client = new Client({ path, timeout: 200 });
  const waits = [["Start", new String("wait")], ["Start", { toJSON: () => "wait" }], [new String("Wait"), undefined]];
  for (const [method, ifRunning] of waits) client.call(method, { key: "a", ifRunning }).catch(() => {});
  assert.equal((await client.get("tea")).key, "tea");
});

test("a signal may be that of many calls", limit, async (t) => {
  const { path } = await serve(t, (socket, { method, more, parameters }) => {
    const events = [{ type: "synced", revision: 7 }];
    if (method.endsWith("Wait")) return;
    write(socket, { parameters: more ? { events, countdowns: [] } : { countdown: { ...countdown, key: parameters.key } }, continues: method.endsWith("Watch") });
  });
  const warnings = [];
  process.on("warning", (warning) => warnings.push(warning));
  const controller = new AbortController();
  const { signal } = controller;
  const client = new Client({ path });
  const absent = new Client({ path: "/missing" });
  const many = Array.from({ length: 20 }, (_, index) => String(index));
  const watches = many.map(() => client.watch({ signal }));
  const lost = many.map(() => absent.watch({ signal }));
  await Promise.all(many.map((key) => client.get(key, { signal })));
  await Promise.all(many.map(() => client.list({ signal })));
  await Promise.all([...watches, ...lost].map((watch) => watch.next()));
  const waits = many.map((key) => assert.rejects(client.wait(key, { signal }), { name: "AbortError" }));
  const next = [...watches, ...lost].map((watch) => assert.rejects(watch.next(), { name: "AbortError" }));
  await new Promise(setImmediate);
  controller.abort();
  await Promise.all([...waits, ...next]);
  await new Promise(setImmediate);
  assert.deepEqual(warnings, []);
  assert.equal(getEventListeners(signal, "abort").length, 0);
});

test("a countdown that is missing is no error of a wait that says so", limit, async (t) => {
  const { path } = await serve(t, (socket, { parameters: { key } }) => {
    if (key === "gone") return write(socket, { error: "io.countdownd.NoSuchCountdown", parameters: { key } });
    return write(socket, { parameters: { countdown: { ...countdown, key, state: "finished" } } });
  });
  const client = new Client({ path });
  assert.equal(await client.wait("gone", { missingOk: true }), undefined);
  assert.equal((await client.wait("tea", { missingOk: true })).state, "finished");
  await assert.rejects(client.wait("gone"), { name: "NoSuchCountdown" });
});

test("the path may be an address as varlinkctl writes it", limit, async (t) => {
  const { path } = await serve(t, (socket) => write(socket, { parameters: { countdown } }));
  for (const given of [`unix:${path}`, `unix:${path};mode=0600`]) {
    const client = new Client({ path: given });
    assert.equal(client.path, path);
    assert.equal((await client.get(number)).key, number);
  }
  assert.equal(new Client({ path: "/run/unix:a;b" }).path, "/run/unix:a;b");
  for (const empty of ["", "unix:", "unix:;mode=0600"]) await assert.rejects(new Client({ path: empty }).get("tea"), countdownd.AddressError);
});

test("a client is made though the daemon has no place", limit, async () => {
  const { XDG_RUNTIME_DIR, COUNTDOWND_SOCKET } = process.env;
  process.env.XDG_RUNTIME_DIR = "/missing";
  delete process.env.COUNTDOWND_SOCKET;
  const client = new Client();
  await assert.rejects(client.get("tea"), countdownd.AddressError);
  Object.assign(process.env, { XDG_RUNTIME_DIR, COUNTDOWND_SOCKET });
});

const ownConnection = {
  list: (client, signal) => client.list({ match: ["t*"], signal }),
  "start, waiting": (client, signal) => client.start("tea", { ifRunning: "wait", signal }),
  wait: (client, signal) => client.wait("tea", { signal }),
  watch: (client, signal) => client.watch({ signal }).next(),
};
const keptConnection = {
  call: (client, signal) => client.call("Get", { key: "tea" }, { signal }),
  start: (client, signal) => client.start("tea", { signal }),
  startAll: (client, signal) => client.startAll([{ key: "tea" }], { signal }),
  get: (client, signal) => client.get("tea", { signal }),
  cancel: (client, signal) => client.cancel("tea", { ifRevision: 7, signal }),
  status: (client, signal) => client.status({ signal }),
};
for (const [name, call] of Object.entries({ ...ownConnection, ...keptConnection })) {
  test(`a call can be given up: ${name}`, limit, async (t) => {
    const controller = new AbortController();
    const reason = new Error("the visitor has left");
    let closed;
    let given;
    const { path } = await serve(t, (socket, { parameters }) => {
      assert.equal(parameters.signal, undefined);
      if (controller.signal.aborted) {
        given();
        return write(socket, { parameters: { countdown: { ...countdown, key: parameters.key } } });
      }
      closed = once(socket, "close");
      given = () => write(socket, { parameters: { countdown } }); // late
      return controller.abort(reason);
    });
    const client = new Client({ path });
    await assert.rejects(call(client, controller.signal), reason);
    if (name in ownConnection) await closed;
    // A late answer is not taken for that of the next call.
    else assert.equal((await client.get("coffee")).key, "coffee");
    // If the signal was aborted before, no call is made.
    await assert.rejects(call(new Client({ path: "/missing" }), controller.signal), reason);
  });
}

test("a call that is given up while it connects is not made", limit, async (t) => {
  const { path } = await serve(t, () => assert.fail("the call was made"));
  const controller = new AbortController();
  const call = new Client({ path }).get("tea", { signal: controller.signal });
  controller.abort();
  await assert.rejects(call, { name: "AbortError" });
});

test("calls share one connection and are answered in their order", limit, async (t) => {
  let connections = 0;
  const { path, server } = await serve(t, (socket, { parameters: { key } }) => {
    if (key === "7") return write(socket, { error: "io.countdownd.NoSuchCountdown", parameters: { key } });
    return write(socket, { parameters: { countdown: { ...countdown, key } } });
  });
  server.on("connection", () => { connections += 1; });
  const client = new Client({ path });
  const keys = Array.from({ length: 1000 }, (_, index) => String(index));
  const found = await Promise.all(keys.map((key) => client.get(key).catch((error) => error)));
  assert.deepEqual(found.map(({ key }) => key), keys);
  assert.equal(found[7].name, "NoSuchCountdown");
  assert.equal(connections, 1);
});

test("a call after the daemon was restarted is made on a new connection", limit, async (t) => {
  const sockets = [];
  const { path } = await serve(t, (socket, { parameters: { key } }) => {
    sockets.push(socket);
    write(socket, { parameters: { countdown: { ...countdown, key } } });
  });
  const client = new Client({ path });
  await client.get("tea");
  // The client has not heard of it yet when it writes.
  const answers = [...Array(3)].map(async (_, index) => {
    if (index === 0) sockets[0].destroy();
    return (await client.get(String(index))).key;
  });
  assert.deepEqual(await Promise.all(answers), ["0", "1", "2"]);
  assert.notEqual(sockets[1], sockets[0]);
});

test("a kept connection without calls does not keep the process alive, and is closed", limit, async (t) => {
  const { path, server } = await serve(t, (socket) => write(socket, { parameters: { countdown } }));
  const program = `
    const { Client } = await import(${JSON.stringify(resolve(file))});
    console.log((await new Client({ path: ${JSON.stringify(path)} }).get("tea")).revision);`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], { stdio: ["ignore", "pipe", "inherit"] });
  const [output] = await once(child.stdout, "data");
  assert.equal(String(output), "7\n");
  assert.deepEqual(await once(child, "close"), [0, null]);
  const client = new Client({ path });
  const connected = once(server, "connection");
  await client.get("tea");
  const [socket] = await connected;
  client.close();
  await once(socket, "close");
  assert.equal((await client.get("tea")).revision, 7);
});

test("waiting can be given up between two attempts", limit, async (t) => {
  const controller = new AbortController();
  const { path, server } = await serve(t, (socket) => {
    server.close(() => controller.abort()); // nothing listens any more, so the next attempts fail
    socket.destroy();
  });
  await assert.rejects(new Client({ path }).wait("tea", { signal: controller.signal }), { name: "AbortError" });
});

test("a signal has no listener left after its calls and watches", limit, async (t) => {
  const { path } = await serve(t, (socket, { more }) => {
    const parameters = more ? { events: [{ type: "synced", revision: 7 }] } : { countdown };
    write(socket, { parameters, continues: more });
  });
  const { signal } = new AbortController();
  const client = new Client({ path });
  await client.get("tea", { signal });
  for await (const event of client.watch({ signal })) if (event.type === "synced") break;
  while (getEventListeners(signal, "abort").length > 0) await new Promise(setImmediate);
});

const rates = JSON.parse(readFileSync(new URL("./rates.json", import.meta.url)));

test("rates of one key have the keys and durations that countdownctl gives them", limit, () => {
  assert(rates.cases.length > 0 && rates.invalid.length > 0);
  for (const { name, key, limits } of rates.cases) {
    const texts = limits.map(({ rate }) => rate);
    const keys = rateKeys(key, texts);
    const found = texts.map((rate, index) => {
      const { interval, upTo } = parseRate(rate);
      return { rate, key: keys[index], durationUSec: interval, upToUSec: upTo };
    });
    assert.deepEqual(found, limits, name);
  }
  for (const { name, key, rates: texts } of rates.invalid) assert.throws(() => rateKeys(key, texts), RangeError, name);
});

test("a countdown that was forgotten while the watch was away is reported once", limit, async (t) => {
  const event = (type, key, revision) => ({
    type, revision, key, remainingUSec: 5, countdown: { ...countdown, key, state: type === "finished" ? type : "running" },
  });
  const scripts = [
    [["tea", "bath", "eggs", "egg"].map((key) => event("attached", key)), { type: "synced", revision: 7 }],
    [{ type: "synced", revision: 9 }],
    [{ type: "synced", revision: 10 }],
  ].map((events) => events.flat());
  const lists = [];
  let watching;
  const { path } = await serve(t, (socket, { method, parameters, more }) => {
    if (method.endsWith("Watch")) {
      watching = socket;
      write(socket, { parameters: { events: scripts.shift() }, continues: true });
      if (scripts.length === 2) socket.end();
      return;
    }
    assert(more);
    lists.push(parameters);
    if (lists.length === 1) return socket.destroy(); // then the watch tries again
    // This end came before the list.
    write(watching, { parameters: { events: [event("finished", "eggs", 11)] }, continues: true });
    setTimeout(() => {
      write(socket, { parameters: { countdowns: [] }, continues: true });
      write(socket, { parameters: { countdowns: [{ ...countdown, key: "bath" }] } });
    }, 50);
  });
  const watch = new Client({ path }).watch({ match: ["*"], tick: 0 });
  const seen = [];
  for (let count = 0; count < 10; count += 1) {
    const { type, key } = (await watch.next()).value;
    seen.push(key ? `${type} ${key}` : type);
  }
  assert.deepEqual(seen, [
    "attached tea", "attached bath", "attached eggs", "attached egg", "synced", "disconnected", "forgotten egg", "forgotten tea",
    "synced", "finished eggs",
  ]);
  assert.deepEqual(lists, [{ match: ["*"] }, { match: ["*"] }]);
  await watch.return();
});

test("after a lost history, countdowns that are not reported again are forgotten", limit, async (t) => {
  const attached = { type: "attached", key: "tea", remainingUSec: 5, countdown: { ...countdown, key: "tea" } };
  const started = { ...attached, type: "started", revision: 3 };
  const replies = [
    { parameters: { events: [attached, { type: "synced", revision: 7 }] }, continues: true },
    { error: "io.countdownd.HistoryTrimmed", parameters: { oldestRevision: 1 } },
    { parameters: { events: [{ type: "synced", revision: 2 }, started] }, continues: true },
  ];
  const { path } = await serve(t, (socket) => {
    write(socket, replies.shift());
    if (replies.length > 0) socket.end();
  });
  const watch = new Client({ path }).watch();
  const types = [];
  while (types.length < 7) types.push((await watch.next()).value.type);
  assert.deepEqual(types, ["attached", "synced", "disconnected", "historyTrimmed", "forgotten", "synced", "started"]);
  await watch.return();
});

test("a watch ends with its block", limit, async (t) => {
  let closed;
  const { path } = await serve(t, (socket) => {
    closed = once(socket, "close");
    write(socket, { parameters: { events: [{ type: "synced", revision: 7 }] }, continues: true });
  });
  const watch = new Client({ path }).watch();
  assert.equal((await watch.next()).value.type, "synced");
  await watch[Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]();
  await closed;
  assert.equal((await watch.next()).done, true);
});

test("a watch that was left does not throw if its signal is aborted later", limit, async () => {
  const controller = new AbortController();
  const watch = new Client({ path: "/missing" }).watch({ signal: controller.signal });
  await watch.return();
  controller.abort();
  assert.equal((await watch.next()).done, true);
});

test("a reply that came while the program was busy is no timeout", limit, async (t) => {
  const { path } = await serve(t, (socket) => {
    write(socket, { parameters: { countdown } });
    const end = performance.now() + 100;
    while (performance.now() < end); // busy for longer than the timeout
  });
  assert.equal((await new Client({ path, timeout: 50 }).get("tea")).revision, 7);
});
