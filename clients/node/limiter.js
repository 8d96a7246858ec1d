// Limits that all processes of a machine share. limiter.d.ts documents them.

import {
  AddressError, Client, CountdowndError, Disconnected, LimitReached, NoSuchCountdown, ProtocolError, RevisionMismatch,
  StorageFailed, Unreachable, WrongState,
} from "./countdownd.js";
import { limitKey } from "./keys.js";
import { parseRate, rateKeys } from "./rate.js";

export { limitKey };

export class Refused extends CountdowndError {
  constructor({ limits, retryAfter }) {
    super("a limit has no room");
    this.retryAfter = retryAfter;
    this.limits = limits;
  }
}
Object.defineProperty(Refused.prototype, "name", { value: "Refused" });

// Limiting

const second = 1000;

/** Whether an error means that the limits cannot be asked about, and not that the program is wrong. */
function isFailure(error) {
  if (error instanceof LimitReached) return !error.limit.startsWith("cooldowns"); // too many for one call
  return [Disconnected, AddressError, ProtocolError, StorageFailed, Unreachable].some((kind) => error instanceof kind);
}

export class Limiter {
  #limits;
  #client;
  #onFailure;
  #onError;
  #first;
  /** Why the daemon was not asked, until the next request may try. */
  #failure;
  #retryAt = 0;

  constructor(limits, { onFailure, path, timeout = 500, firstTimeout = 5 * second, onError } = {}) {
    if (!["open", "closed"].includes(onFailure)) throw new TypeError(`onFailure is ${onFailure}; expected open or closed`);
    this.#limits = Object.entries(limits).flatMap(([name, rates]) => limitsOf(name, [rates].flat()));
    if (this.#limits.length === 0) throw new TypeError("there are no limits; expected at least one");
    this.#client = new Client({ path, timeout });
    this.#onFailure = onFailure;
    this.#onError = onError ?? ((error) => {
      console.error(`countdownd: limits ${onFailure === "open" ? "let everything pass" : "refuse everything"}: ${error.message}`);
    });
    this.#first = this.#begin(new Client({ path, timeout: firstTimeout }));
    this.#first.catch(() => {}); // each request has the error
  }

  ready() { return this.#first; }

  take(values, options) { return this.#decide(values, false, options); }

  look(values, options) { return this.#decide(values, true, options); }

  async run(values, work, options) {
    const decision = await this.take(values, options);
    if (!decision.accepted) throw decision.error ?? new Refused(decision);
    try {
      return await work();
    } catch (error) {
      await decision.giveBack().catch(this.#onError);
      throw error;
    }
  }

  close() { this.#client.close(); }

  async #decide(values, dryRun, { weight = 1 } = {}) {
    const valueOf = this.#read(await values);
    const cooldowns = await Promise.all(this.#limits.map(async ({ name, suffix, interval, upTo }) => {
      const key = limitKey(name, await valueOf(name)) + suffix;
      return { key, duration: (interval * weight) / 1000, upTo: upTo / 1000, forget: true };
    }));
    try {
      await this.#first;
      const reply = await this.#guarded(() => this.#client.startAll(cooldowns, { dryRun }));
      return this.#decision(reply, cooldowns, weight, dryRun);
    } catch (error) {
      if (!isFailure(error)) throw error;
      const accepted = this.#onFailure === "open";
      return { accepted, limits: [], retryAfter: accepted ? undefined : second, error, giveBack: async () => {} };
    }
  }

  /**
   * A function that gives the value of a limit. An object must have one for each limit: otherwise a visitor who sends an object
   * instead of a text could leave a limit out.
   */
  #read(values) {
    if (typeof values !== "object" || values === null || Array.isArray(values)) return () => values;
    const names = [...new Set(this.#limits.map(({ name }) => name))];
    const isPlain = [Object.prototype, null].includes(Object.getPrototypeOf(values));
    if (isPlain && Object.keys(values).length === names.length && names.every((name) => Object.hasOwn(values, name))) {
      return (name) => values[name];
    }
    throw new TypeError(`the values are another object; expected one with ${names.join(" and ")}, or one value for all`);
  }

  #decision({ accepted, rooms, retryAfter }, cooldowns, weight, dryRun) {
    const limits = this.#limits.map(({ policy, times, period, interval, upTo }, index) => {
      const { left, more, countdown } = rooms[index];
      const units = weight === 1 ? left : Math.floor((upTo - (countdown?.remaining ?? 0) * 1000) / interval);
      return { name: policy, times, period: period / 1000, left: Math.max(0, units), more, hasRoom: accepted || left > 0 };
    });
    let mayGiveBack = accepted && !dryRun;
    const giveBack = async () => {
      if (!mayGiveBack) return;
      mayGiveBack = false;
      await Promise.all(rooms.map(({ countdown }, index) => this.#giveBack(countdown, cooldowns[index].duration)));
    };
    return { accepted, limits, retryAfter, giveBack };
  }

  /** Takes the time of a call back, unless the countdown was started anew since. */
  async #giveBack({ key, startedUSec, revision }, duration) {
    for (let ifRevision = revision; ;) {
      try {
        return await this.#client.adjust(key, { by: -duration, ifRevision });
      } catch (error) {
        if (error instanceof NoSuchCountdown || error instanceof WrongState) return undefined;
        if (!(error instanceof RevisionMismatch)) throw error;
        const now = error.countdown;
        if (now.startedUSec !== startedUSec || !["running", "paused"].includes(now.state)) return undefined;
        ifRevision = now.revision;
      }
    }
  }

  /** The first call, which may start the daemon, and which shows whether it accepts the limits. */
  async #begin(client) {
    const cooldowns = this.#limits.map(({ name, suffix, interval, upTo }) => {
      return { key: limitKey(name, "") + suffix, duration: interval / 1000, upTo: upTo / 1000 };
    });
    try {
      await this.#guarded(() => client.startAll(cooldowns, { dryRun: true }));
    } catch (error) {
      if (!isFailure(error)) throw error;
    } finally {
      client.close();
    }
  }

  /** After a failure, no call is made for a second; then one call tries. */
  async #guarded(call) {
    if (this.#failure) {
      if (performance.now() < this.#retryAt) throw this.#failure;
      this.#retryAt = performance.now() + second;
    }
    try {
      const reply = await call();
      this.#failure = undefined;
      return reply;
    } catch (error) {
      if (isFailure(error)) this.#fail(error);
      throw error;
    }
  }

  #fail(error) {
    if (!this.#failure) this.#onError(error);
    this.#failure = error;
    this.#retryAt = performance.now() + second;
  }
}

function limitsOf(name, rates) {
  if (!/^[A-Za-z0-9._@:/-]{1,64}$/.test(name)) {
    throw new RangeError(`the limit ${JSON.stringify(name)} has no valid name; expected 1 to 64 of A-Z a-z 0-9 . _ @ : / -`);
  }
  const suffixes = rateKeys("", rates);
  return rates.map((rate, index) => ({ name, policy: name + suffixes[index], suffix: suffixes[index], ...parseRate(rate) }));
}

// HTTP

const seconds = (milliseconds) => Math.ceil(milliseconds / 1000);

export function rateLimitHeaders({ accepted, limits }) {
  if (limits.length === 0) return {};
  const policies = limits.map(({ name, times, period }) => `"${name}";q=${times}${period % 1000 === 0 ? `;w=${period / 1000}` : ""}`);
  const shown = limits.filter(({ hasRoom }) => accepted || !hasRoom);
  const states = shown.map(({ name, left, more }) => `"${name}";r=${left}${more === undefined ? "" : `;t=${seconds(more)}`}`);
  return { "RateLimit-Policy": policies.join(", "), ...(states.length > 0 && { RateLimit: states.join(", ") }) };
}

export function retryAfterHeader({ accepted, retryAfter }) {
  return accepted || retryAfter === undefined ? {} : { "Retry-After": String(Math.max(1, seconds(retryAfter))) };
}
