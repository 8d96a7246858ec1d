// What only the client for node has to do: node --test test_node.js. COUNTDOWND_NODE_CLIENT names another file to test.

import assert from "node:assert/strict";
import { getEventListeners, once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { inspect } from "node:util";

const file = process.env.COUNTDOWND_NODE_CLIENT ?? new URL("../node/countdownd.js", import.meta.url).pathname;
const countdownd = await import(resolve(file));
const { Client } = countdownd;

const number = "+49 171 138";
const countdown = {
  key: number, state: "running", clock: "elapsed", durationUSec: 60_000_000, remainingUSec: 60_000_000,
  startedUSec: 1_700_000_000_000_001, deadlineUSec: 1_700_000_060_000_001, label: number, forget: false, revision: 7,
};

/** A server that gives each call, with its connection, to the function. */
async function serve(t, answer) {
  const folder = mkdtempSync(join(tmpdir(), "countdownd-"));
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (data) => answer(socket, JSON.parse(data.subarray(0, -1))));
  });
  server.listen(join(folder, "socket"));
  await once(server, "listening");
  t.after(() => {
    server.close();
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
    const error = await new Client(path).get(name).catch((error) => error);
    assert(error instanceof countdownd[name.split(".").pop()], `${name} is a ${error.constructor.name}`);
    assert.equal(error.name, name.split(".").pop());
    assert.match(error.stack, new RegExp(`^${error.name}: the daemon refused the call: ${error.name}`));
    // Neither the message nor console.log shows a key, which is often a telephone number.
    assert.doesNotMatch(inspect(error), /138/);
    assert.equal(error.parameters.key, number);
  }
  const unknown = await new Client(path).get("org.example.TeaIsCold").catch((error) => error);
  assert.equal(unknown.name, "CallError");
  for (const [name, kind] of Object.entries(countdownd)) if (name !== "Client") assert.equal(kind.prototype.name, name);
});

test("a message that is no reply is not shown, because it may contain a key", limit, async (t) => {
  const { path } = await serve(t, (socket) => socket.write(`{"parameters":{"key":"${number}"\0`));
  const error = await new Client(path).get(number).catch((error) => error);
  assert(error instanceof countdownd.ProtocolError);
  assert.doesNotMatch(inspect(error), /138/);
});

test("a number that is no safe integer is refused before it is sent", limit, async () => {
  const client = new Client("/missing");
  for (const value of [NaN, Infinity, -Infinity, 1.5, 2 ** 53]) {
    const expected = { name: "RangeError", message: `durationUSec is ${value}; expected a safe integer` };
    await assert.rejects(client.start("tea", { durationUSec: value }), expected);
    await assert.rejects(client.call("Start", { key: "tea", durationUSec: value }), expected);
    await assert.rejects(client.watch({ tickUSec: value }).next(), RangeError);
  }
  for (const timeoutUSec of [0, -1, NaN, "soon"]) assert.throws(() => new Client("/missing", { timeoutUSec }), RangeError);
});

test("a client is made though the daemon has no place", limit, async () => {
  const { XDG_RUNTIME_DIR, COUNTDOWND_SOCKET } = process.env;
  process.env.XDG_RUNTIME_DIR = "/missing";
  delete process.env.COUNTDOWND_SOCKET;
  const client = new Client();
  await assert.rejects(client.get("tea"), countdownd.AddressError);
  Object.assign(process.env, { XDG_RUNTIME_DIR, COUNTDOWND_SOCKET });
});

test("each call can be given up, which closes its connection", limit, async (t) => {
  const calls = {
    call: (client, signal) => client.call("Get", { key: "tea" }, { signal }),
    start: (client, signal) => client.start("tea", { ifRunning: "wait", signal }),
    get: (client, signal) => client.get("tea", { signal }),
    list: (client, signal) => client.list({ match: ["t*"], signal }),
    cancel: (client, signal) => client.cancel("tea", { ifRevision: 7, signal }),
    wait: (client, signal) => client.wait("tea", { signal }),
    watch: (client, signal) => client.watch({ signal }).next(),
  };
  for (const [name, call] of Object.entries(calls)) {
    await t.test(name, limit, async (t) => {
      const controller = new AbortController();
      const reason = new Error("the visitor has left");
      let closed;
      const { path } = await serve(t, (socket, { parameters }) => {
        assert.equal(parameters.signal, undefined);
        closed = once(socket, "close");
        controller.abort(reason);
      });
      await assert.rejects(call(new Client(path), controller.signal), reason);
      await closed;
      // If the signal was aborted before, no call is made.
      await assert.rejects(call(new Client("/missing"), controller.signal), reason);
    });
  }
});

test("waiting can be given up between two attempts", limit, async (t) => {
  const controller = new AbortController();
  const { path, server } = await serve(t, (socket) => {
    server.close(() => controller.abort()); // nothing listens any more, so the next attempts fail
    socket.destroy();
  });
  await assert.rejects(new Client(path).wait("tea", { signal: controller.signal }), { name: "AbortError" });
});

test("a signal has no listener left after its calls and watches", limit, async (t) => {
  const { path } = await serve(t, (socket, { more }) => {
    const parameters = more ? { events: [{ type: "synced", revision: 7 }] } : { countdown };
    write(socket, { parameters, continues: more });
  });
  const { signal } = new AbortController();
  const client = new Client(path);
  await client.get("tea", { signal });
  for await (const event of client.watch({ signal })) if (event.type === "synced") break;
  while (getEventListeners(signal, "abort").length > 0) await new Promise(setImmediate);
});

test("a watch ends with its block", limit, async (t) => {
  let closed;
  const { path } = await serve(t, (socket) => {
    closed = once(socket, "close");
    write(socket, { parameters: { events: [{ type: "synced", revision: 7 }] }, continues: true });
  });
  const watch = new Client(path).watch();
  assert.equal((await watch.next()).value.type, "synced");
  await watch[Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]();
  await closed;
  assert.equal((await watch.next()).done, true);
});

test("a watch that was left does not throw if its signal is aborted later", limit, async () => {
  const controller = new AbortController();
  const watch = new Client("/missing").watch({ signal: controller.signal });
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
  assert.equal((await new Client(path, { timeoutUSec: 50_000 }).get("tea")).revision, 7);
});
