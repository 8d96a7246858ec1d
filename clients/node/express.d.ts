/** Middleware for express, and for other frameworks with node's request and response. */

import type { Client, WatchOptions } from "./countdownd.js";
import type { Decision, LimiterOptions, Value } from "./limiter.js";

type Next = (error?: any) => void;
/** response: node's ServerResponse, or one that is built on it. */
type Handler<Request> = (request: Request, response: any, next: Next) => Promise<void>;

/** What tells visitors apart: a user's number, an address. If it throws, or gives another type, the error goes to next. */
export type KeyOf<Request> = (request: Request) => Value | PromiseLike<Value>;

export interface RateLimitOptions<Request> extends LimiterOptions {
  /** By its name: one rate or several, or rates with a key of their own. */
  limits: Record<string, string | string[] | { rates: string | string[]; key?: KeyOf<Request> }>;
  /** For all limits that have no key of their own. */
  key?: KeyOf<Request>;
  /** How many requests this one counts as: 1 by default. */
  weight?: (request: Request) => number | Promise<number>;
  /** The fields of the answers: draft-11 by default; null for none. */
  headers?: "draft-11" | null;
  /**
   * Answers a refused request. The status and the header are set: 429, or 503 if the limits cannot be checked. Its error goes to
   * next.
   */
  refused?: (request: Request, response: any, decision: Decision, next: Next) => unknown;
}

/**
 * Middleware that accepts a request if all limits have room, and sets request.rateLimit. It does not read the body, and does not
 * count the preflight requests of browsers. If a route has further limits, request.rateLimit and the fields have those of both.
 */
export function rateLimit<Request = any>(options: RateLimitOptions<Request>): Handler<Request>;

export interface RelayOptions extends Pick<WatchOptions, "match" | "keys"> {
  client?: Client;
  /** The most pages that one network address can keep connected: 100 by default. */
  pagesPerAddress?: number;
  /** Is told if the watch ends, or a function that names keys throws. By default, the error is written to the standard error. */
  onError?: (error: unknown) => void;
}

/** What a page is sent: the state of one of its countdowns, when it connects and after each change. */
export interface Shown {
  /** The name that the page has for it. */
  name: string;
  state: "running" | "paused" | "finished" | "cancelled" | "none";
  remaining: number;
  duration: number;
  label?: string;
}

/** The countdowns of a page: the keys by their names, or a function that gives the name of a key that is the page's. */
export type Names = Record<string, string> | ((key: string) => string | null | undefined) | null | undefined;

/** One watch of the daemon for many pages, which get server-sent events. It begins at once. */
export class Relay {
  constructor(options?: RelayOptions);
  /**
   * A handler for EventSource. The function names the countdowns that the page may see; the page does not learn their keys. It
   * gives the key of each name, or a function from a key to its name, which is also asked about countdowns that start later; null
   * is answered with 204, after which a page does not connect again. A page that reads slowly is sent the last state alone.
   */
  handler<Request = any>(keysOf: (request: Request) => Names | PromiseLike<Names>): Handler<Request>;
  /** Ends the watch and the answers to the pages. */
  close(): void;
}
