// One watch for many pages, as server-sent events. express.d.ts documents it.

import { Client } from "./countdownd.js";

/** A page that reads nothing is disconnected at this many bytes, and gets the state when it connects again. */
const mostUnsent = 64 << 10;
/** Proxies close quiet connections. */
const signOfLife = 15_000;

const headers = { "Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no" };

export class Relay {
  #pagesPerAddress;
  #controller = new AbortController();
  #timer;
  /** The countdowns that run or are paused, each with the instant of its remaining time. */
  #countdowns = new Map();
  #isSynced = false;
  #isClosed = false;
  /** The pages that show a key, and those of an address. */
  #pagesOf = new Map();
  #pagesAt = new Map();
  #pages = new Set();

  constructor({ client = new Client(), match, keys, pagesPerAddress = 100, onError = defaultOnError } = {}) {
    this.#pagesPerAddress = pagesPerAddress;
    this.#timer = setInterval(() => this.#each((page) => page.send(":\n\n")), signOfLife).unref();
    const { signal } = this.#controller;
    this.#follow(client.watch({ match, keys, tick: 0, signal })).catch((error) => {
      if (!signal.aborted) onError(error);
      this.#end();
    });
  }

  handler(keysOf) {
    return async (request, response, next) => {
      try {
        this.#join(await keysOf(request), request, response);
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
        this.#each((page) => page.sendAll());
      }
      if (key === undefined) continue;
      const isLive = ["running", "paused"].includes(countdown?.state);
      if (isLive) this.#countdowns.set(key, { countdown, at: performance.now() });
      else this.#countdowns.delete(key);
      if (this.#isSynced) for (const page of this.#pagesOf.get(key) ?? []) page.sendState(key, countdown);
    }
  }

  #join(names, request, response) {
    const address = request.ip ?? request.socket.remoteAddress;
    const isFull = (this.#pagesAt.get(address)?.size ?? 0) >= this.#pagesPerAddress;
    if (this.#isClosed || isFull) {
      response.statusCode = this.#isClosed ? 503 : 429;
      response.setHeader("Retry-After", "10");
      response.end();
      return;
    }
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.flushHeaders();
    const page = new Page(response, names, (key) => this.#now(key));
    const places = [[this.#pagesAt, address], ...Object.values(names).map((key) => [this.#pagesOf, key])];
    for (const [pages, place] of places) pages.set(place, (pages.get(place) ?? new Set()).add(page));
    this.#pages.add(page);
    response.once("close", () => {
      this.#pages.delete(page);
      for (const [pages, place] of places) {
        pages.get(place)?.delete(page);
        if (pages.get(place)?.size === 0) pages.delete(place);
      }
    });
    page.send("retry: 500\n\n");
    if (this.#isSynced) page.sendAll();
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

class Page {
  #response;
  #names;
  #now;

  constructor(response, names, now) {
    this.#response = response;
    this.#names = Object.entries(names);
    this.#now = now;
  }

  sendAll() {
    for (const [, key] of this.#names) this.sendState(key);
  }

  /** Sends the state under the names that the page has for the key. */
  sendState(key, countdown = this.#now(key)) {
    const { state = "none", remaining = 0, duration = 0, label } = countdown ?? {};
    for (const [name, named] of this.#names) {
      if (named === key) this.send(`data: ${JSON.stringify({ name, state, remaining, duration, label })}\n\n`);
    }
  }

  send(text) {
    this.#response.write(text);
    if (this.#response.writableLength > mostUnsent) this.#response.destroy();
  }

  end() {
    this.#response.end();
  }
}

function defaultOnError(error) {
  console.error(`countdownd: pages are not told of changes: ${error.message}`);
}
