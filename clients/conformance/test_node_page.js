// The programs of clients/node/README.md, as they stand: node --test test_node_page.js. See test_node_limits.js for what it needs.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startDaemon } from "../node/testing.js";

const limit = { timeout: 60_000 };
const page = readFileSync(new URL("../node/README.md", import.meta.url), "utf8");
const sections = new Map(page.split(/^## /m).map((text) => [text.split("\n")[0], text]));

let daemon;
let folder;
before(async () => {
  daemon = await startDaemon();
  folder = mkdtempSync(join(tmpdir(), "countdownd-page-"));
  const modules = join(folder, "node_modules");
  mkdirSync(modules);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  symlinkSync(fileURLToPath(new URL("../node", import.meta.url)), join(modules, "countdownd"));
  symlinkSync(dirname(createRequire(import.meta.url).resolve("express")), join(modules, "express"));
});
after(async () => {
  await daemon.stop();
  rmSync(folder, { recursive: true });
});

/** Runs the program of a section. */
function run(t, section, environment = {}) {
  const [, program] = /```js\n(.*?)```/s.exec(sections.get(section));
  const file = join(folder, `${section.replaceAll(" ", "-")}.js`);
  writeFileSync(file, program);
  const child = spawn(process.execPath, [file], {
    env: { ...process.env, NODE_TEST_CONTEXT: undefined, COUNTDOWND_SOCKET: daemon.path, ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill());
  return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
}

/** All lines that it prints. It has to succeed. */
async function outputOf(t, section) {
  const { child, lines } = run(t, section);
  const output = [];
  for await (const line of lines) output.push(line);
  if (child.exitCode === null) await once(child, "exit");
  assert.equal(child.exitCode, 0);
  return output.join("\n");
}

/** The address of a server, once it answers. */
async function serve(t, section) {
  const port = await freePort();
  run(t, section, { PORT: String(port) });
  const address = `http://127.0.0.1:${port}`;
  for (const end = Date.now() + 20_000; ;) {
    const isThere = await fetch(`${address}/missing`).then(() => true, () => false);
    if (isThere) return address;
    assert(Date.now() < end, "the server does not answer");
  }
}

async function freePort() {
  const { createServer } = await import("node:net");
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

test("each program of the page has a test", limit, () => {
  const tested = [
    "A cooldown", "A rate", "A wait", "A countdown from its start to its end", "A watch that survives restarts", "A test",
    "Limits in a web server", "Tiers and exempt routes", "Only failed logins count", "A few at a time",
    "Exactly 20 per calendar day", "Wait for Retry-After", "Many pages, one watch",
  ];
  assert.deepEqual([...sections].filter(([, text]) => text.includes("```js")).map(([section]) => section), tested);
  for (const [, text] of sections) assert(text.split("```js").length <= 2, "two programs in a section");
});

test("a cooldown", limit, async (t) => {
  assert.match(await outputOf(t, "A cooldown"), /^attempt 1: a code is sent, the next one from \S+Z\nattempt 2: again in (60|59|58) s$/);
});

test("a rate", limit, async (t) => {
  assert.match(await outputOf(t, "A rate"),
    /^attempt 1: sent\nattempt 2: sent\nattempt 3: again in (30|29|28) s\nsms: 0 left, sms\/1h: 3 left$/);
});

test("a countdown from its start to its end", limit, async (t) => {
  assert.equal(await outputOf(t, "A countdown from its start to its end"), "started 3\ntick 2\ntick 1\nfinished 0");
});

test("a wait", limit, async (t) => {
  assert.equal(await outputOf(t, "A wait"), "finished true");
});

test("a watch that survives restarts", limit, async (t) => {
  const { child, lines } = run(t, "A watch that survives restarts");
  const next = async () => (await lines.next()).value;
  assert.equal(await next(), "synced ");
  await daemon.client().start("eggs/1");
  assert.equal(await next(), "started eggs/1");
  await daemon.restart();
  assert.equal(await next(), "disconnected ");
  assert.equal(await next(), "synced ");
  await daemon.client().finish("eggs/1");
  assert.equal(await next(), "eggs/1 finished 0 ms late");
  await daemon.client().start("eggs/last");
  assert.equal(await next(), "started eggs/last");
  await once(child, "exit");
});

test("a test", limit, async (t) => {
  assert.match(await outputOf(t, "A test"), /^# pass 1$/m);
});

test("limits in a web server", limit, async (t) => {
  const address = await serve(t, "Limits in a web server"); // which has asked at least once
  const left = [];
  for (let response; (response = await fetch(address)).status === 200; left.push(await response.text())) {
    assert(left.length < 3, "the limit does not hold");
  }
  assert.equal(left.at(-1), "0 left\n");
});

test("tiers and exempt routes", limit, async (t) => {
  const address = await serve(t, "Tiers and exempt routes");
  const ask = async (account) => {
    const response = await fetch(address, { headers: account && { "x-account": account } });
    return response.ok ? response.text() : response.status;
  };
  for (let count = 0; count < 4; count += 1) assert.equal(await (await fetch(`${address}/health`)).text(), "well\n");
  assert.deepEqual([await ask("bob"), await ask("bob"), await ask("bob")], ["1 left\n", "0 left\n", 429]);
  for (let count = 0; count < 3; count += 1) assert.match(await ask("ada"), /^9[0-9] left$/m);
});

test("only failed logins count", limit, async (t) => {
  const address = await serve(t, "Only failed logins count");
  const login = async (password) => {
    const options = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ name: "ada", password }) };
    return (await fetch(`${address}/login`, options)).status;
  };
  for (const password of ["tea", "tea", "tea", "tea", "coffee", "coffee"]) assert.equal(await login(password), password === "tea" ? 200 : 401);
  const many = await Promise.all(Array.from({ length: 5 }, () => login("cocoa")));
  assert.deepEqual(many.sort(), [401, 429, 429, 429, 429]);
});

test("a few at a time", limit, async (t) => {
  const lines = (await outputOf(t, "A few at a time")).split("\n");
  let running = 0;
  for (const line of lines) {
    running += line.endsWith("begins") ? 1 : -1;
    assert(running <= 2, lines.join());
  }
  assert.equal(lines.length, 6);
  assert.deepEqual(await daemon.client().list({ keys: ["render"] }), []);
});

test("exactly 20 per calendar day", limit, async (t) => {
  assert.equal(await outputOf(t, "Exactly 20 per calendar day"), "20 sent, the next one tomorrow");
});

test("wait for Retry-After", limit, async (t) => {
  assert.equal(await outputOf(t, "Wait for Retry-After"), "answer 2");
  assert.equal((await daemon.client().get("api/example")).state, "finished");
});

test("many pages, one watch", limit, async (t) => {
  const address = await serve(t, "Many pages, one watch");
  await daemon.client().start("login/7", { duration: 60_000 });
  const response = await fetch(`${address}/events?account=7`);
  let text = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes("running")) break;
  }
  assert.match(text, /^data: {"name":"button","state":"running","remaining":[0-9.]+,"duration":60000}$/m);
});
