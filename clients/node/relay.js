// One watch for many pages, as server-sent events. express.d.ts documents it.

import { Client } from "./countdownd.js";
import { networkOf } from "./keys.js";

/** Proxies close quiet connections. */
const signOfLife = 15_000;

const headers = { "Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no" };

export class Relay {
  #pagesPerAddress;
  #onError;
  #controller = new AbortController();
  #timer;
  /** The countdowns that run or are paused, each with the instant of its remaining time. */
  #countdowns = new Map();
  #isSynced = false;
  #isClosed = false;
  /** The pages that show a key, those that name keys by a function, those of an address, and all. */
  #pagesOf = new Map();
  #namingPages = new Set();
  #pagesAt = new Map();
  #pages = new Set();

  constructor({ client = new Client(), match, keys, pagesPerAddress = 100, onError = defaultOnError } = {}) {
    this.#pagesPerAddress = pagesPerAddress;
    this.#onError = onError;
    this.#timer = setInterval(() => this.#each((page) => page.sendSign()), signOfLife).unref();
    const { signal } = this.#controller;
    this.#follow(client.watch({ match, keys, tick: 0, signal })).catch((error) => {
      if (!signal.aborted) onError(error);
      this.#end();
    });
  }

  handler(keysOf) {
    return async (request, response, next) => {
      try {
        const names = await keysOf(request);
        if (!response.headersSent) this.#join(names, request, response);
      } catch (error) {
        next(error);
      }
    };
  }

  close() {
    this.#controller.abort();
    this.#end();
  }

  async #follow(watch) {
    for await (const { type, key, countdown } of watch) {
      if (type === "synced" && !this.#isSynced) {
        this.#isSynced = true;
        this.#each((page) => page.sendAll(this.#countdowns.keys()));
      }
      if (key === undefined) continue;
      const isLive = ["running", "paused"].includes(countdown?.state);
      if (isLive) this.#countdowns.set(key, { countdown, at: performance.now() });
      else this.#countdowns.delete(key);
      if (!this.#isSynced) continue;
      for (const page of [...(this.#pagesOf.get(key) ?? []), ...this.#namingPages]) page.sendChange(key, countdown);
    }
  }

  #join(names, request, response) {
    const naming = namingOf(names);
    if (!naming) {
      response.statusCode = 204; // with which a page does not connect again
      response.end();
      return;
    }
    const address = networkOf(request.ip ?? request.socket.remoteAddress ?? "");
    const isFull = (this.#pagesAt.get(address)?.size ?? 0) >= this.#pagesPerAddress;
    if (this.#isClosed || isFull) {
      response.statusCode = this.#isClosed ? 503 : 429;
      response.setHeader("Retry-After", "10");
      response.end();
      return;
    }
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.flushHeaders();
    const page = new Page(response, naming, (key) => this.#now(key), this.#onError);
    const places = [[this.#pagesAt, address], ...naming.keys.map((key) => [this.#pagesOf, key])];
    for (const [pages, place] of places) pages.set(place, (pages.get(place) ?? new Set()).add(page));
    this.#pages.add(page);
    if (typeof names === "function") this.#namingPages.add(page);
    response.once("close", () => {
      this.#pages.delete(page);
      this.#namingPages.delete(page);
      for (const [pages, place] of places) {
        pages.get(place)?.delete(page);
        if (pages.get(place)?.size === 0) pages.delete(place);
      }
    });
    response.write("retry: 500\n\n");
    if (this.#isSynced) page.sendAll(this.#countdowns.keys());
  }

  /** A countdown with its remaining time of now. */
  #now(key) {
    const known = this.#countdowns.get(key);
    if (!known) return undefined;
    const { countdown, at } = known;
    const passed = countdown.state === "running" ? performance.now() - at : 0;
    return { ...countdown, remaining: Math.max(0, countdown.remaining - passed) };
  }

  #each(act) {
    for (const page of this.#pages) act(page);
  }

  #end() {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#each((page) => page.end());
  }
}

/**
 * How a page names the countdowns that it may see: the keys that it shows though they do not run, all others if it names them by
 * a function, and the names of a key. undefined if it may see none.
 */
function namingOf(names) {
  if (names == null) return undefined;
  if (typeof names === "function") return { keys: [], asksForOthers: true, namesOf: (key) => namesBy(names, key) };
  const entries = Object.entries(names);
  if (typeof names === "object" && entries.every(([, key]) => typeof key === "string")) {
    const namesOf = (key) => entries.filter(([, named]) => named === key).map(([name]) => name);
    return { keys: [...new Set(entries.map(([, key]) => key))], asksForOthers: false, namesOf };
  }
  throw new TypeError("a page has countdowns of another type; expected an object of names and keys, a function, or null");
}

function namesBy(nameOf, key) {
  const name = nameOf(key);
  if (name == null) return [];
  if (typeof name === "string") return [name];
  throw new TypeError(`the name of a countdown is a ${typeof name}; expected a string, or null`);
}

class Page {
  #response;
  #naming;
  #now;
  #onError;
  /** The last countdown of each key that has changed while the page did not read. */
  #waiting = new Map();

  constructor(response, naming, now, onError) {
    this.#response = response;
    this.#naming = naming;
    this.#now = now;
    this.#onError = onError;
    response.on("drain", () => this.#sendWaiting());
  }

  sendAll(others) {
    for (const key of this.#naming.asksForOthers ? others : this.#naming.keys) this.sendChange(key, this.#now(key));
  }

  /** The names of a key. If the program's function throws, this page ends, and no other. */
  #namesOf(key) {
    if (this.#response.destroyed) return [];
    try {
      return this.#naming.namesOf(key);
    } catch (error) {
      this.#onError(error);
      this.#response.destroy();
      return [];
    }
  }

  /** Sends the state of a key to a page that reads. The others get only the last one, when they read again. */
  sendChange(key, countdown) {
    if (this.#namesOf(key).length === 0) return;
    this.#waiting.set(key, countdown);
    this.#sendWaiting();
  }

  #sendWaiting() {
    for (const [key, countdown] of this.#waiting) {
      if (this.#response.writableNeedDrain) return;
      this.#waiting.delete(key);
      this.#send(key, this.#now(key) ?? countdown);
    }
  }

  #send(key, countdown) {
    const { state = "none", remaining = 0, duration = 0, label } = countdown ?? {};
    const shown = this.#namesOf(key).map((name) => JSON.stringify({ name, state, remaining, duration, label }));
    this.#response.write(shown.map((text) => `data: ${text}\n\n`).join(""));
  }

  sendSign() {
    if (!this.#response.writableNeedDrain) this.#response.write(":\n\n");
  }

  end() {
    this.#response.end();
  }
}

function defaultOnError(error) {
  console.error(`countdownd: pages are not told of changes: ${error.message}`);
}
