// A daemon for tests. testing.d.ts documents it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, Disconnected, NoSuchCountdown, WrongState } from "./countdownd.js";

/** The longest that a daemon may take to start, in milliseconds. */
const patience = 20_000;

export async function startDaemon({ program = process.env.COUNTDOWND_PROGRAM || "countdownd" } = {}) {
  const daemon = new TestDaemon(program, await mkdtemp(join(tmpdir(), "countdownd-")));
  await daemon.start();
  return daemon;
}

class TestDaemon {
  #program;
  #folder;
  #child;
  #client;

  constructor(program, folder) {
    this.#program = program;
    this.#folder = folder;
    this.#client = this.client();
  }

  get path() { return join(this.#folder, "socket"); }

  client(options) { return new Client({ ...options, path: this.path }); }

  async start() {
    const state = join(this.#folder, "state");
    const child = spawn(this.#program, ["--socket", this.path, "--state-directory", state], {
      env: { PATH: process.env.PATH }, stdio: ["ignore", "ignore", "pipe"],
    });
    let log = "";
    let fault;
    child.stderr.on("data", (text) => { log = (log + text).slice(-10_000); });
    child.on("error", (error) => { fault = error.message; });
    child.on("exit", (code, signal) => { fault = `it exited with ${code ?? signal}: ${log}`; });
    this.#child = child;
    if (child.pid !== undefined) guard(child, this.#folder);
    for (const end = performance.now() + patience; ; await sleep(5)) {
      try {
        await this.#client.status();
        child.unref();
        child.stderr.unref();
        return;
      } catch (error) {
        if (fault || !(error instanceof Disconnected) || performance.now() > end) {
          throw new Error(`${this.#program} does not start: ${fault ?? error.message}`);
        }
      }
    }
  }

  async kill(signal = "SIGKILL") {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.ref(); // so that this process does not end meanwhile
    child.kill(signal);
    await once(child, "exit");
  }

  async restart() {
    await this.kill("SIGTERM");
    await this.start();
  }

  async advance(milliseconds) {
    const running = await this.#client.list({ states: ["running"] });
    running.sort((one, other) => one.remaining - other.remaining);
    for (const { key } of running) await this.#shorten(key, milliseconds);
  }

  /** Takes time from a countdown, and what is left of it from the start that waited for its end. */
  async #shorten(key, milliseconds) {
    let left = milliseconds;
    while (left > 0) {
      const [before] = await this.#client.list({ keys: [key], states: ["running"] });
      if (!before) return;
      try {
        const after = await this.#client.adjust(key, { by: -left });
        if (after.state === "running") return;
        left -= before.remaining;
      } catch (error) {
        if (error instanceof NoSuchCountdown || error instanceof WrongState) return; // it has just ended
        throw error;
      }
    }
  }

  async stop() {
    this.#client.close();
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    await this.stop();
  }
}

/**
 * A shell that waits for the end of this process, however it ends, which closes the pipe to the shell. Then it ends the daemon and
 * removes its folder.
 */
function guard(child, folder) {
  const script = 'read -r _ || { kill -KILL "$0"; rm -rf "$1"; }';
  const shell = spawn("/bin/sh", ["-c", script, String(child.pid), folder], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  for (const handle of [shell, shell.stdin]) handle.on("error", () => {}).unref();
  child.once("exit", () => shell.stdin.end("ended\n")); // its number may soon be another process's
}
