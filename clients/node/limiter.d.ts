/** Limits that all processes of a machine share. */

import { CountdowndError } from "./countdownd.js";

/**
 * The limits by their names, each with one rate or several, such as { sms: ["1/60s", "5/1h"] }. A call needs room in all of them.
 * A name has 1 to 64 of A-Z a-z 0-9 . _ @ : / -. Together there are at most 16 rates.
 */
export type Limits = Record<string, string | string[]>;

export interface LimiterOptions {
  /**
   * What happens if the limits cannot be checked, because there is no daemon, it does not answer in time, or it cannot store the
   * change: open lets everything pass, closed refuses everything.
   */
  onFailure: "open" | "closed";
  /** The daemon's socket. */
  path?: string;
  /** How long the daemon may be silent: 500 ms by default. A call that timed out may have counted. */
  timeout?: number;
  /** The same for the first call, which is made at once and may start the daemon: 5 s by default. */
  firstTimeout?: number;
  /** Is told when the limits can no longer be checked. By default, the error is written to the standard error. */
  onError?: (error: unknown) => void;
}

/** The state of one rate. */
export interface LimitState {
  /** The name of the limit; of each rate after the first, with its period: sms/1h. */
  name: string;
  /** The most calls at once. */
  times: number;
  period: number;
  /** How many calls of weight 1 are left. */
  left: number;
  /** How long until one more is left; absent if all are left, or if it cannot be known. */
  more?: number;
  /** Whether this limit accepts the call. */
  hasRoom: boolean;
}

export interface Decision {
  accepted: boolean;
  /** Empty if the limits could not be checked. */
  limits: LimitState[];
  /** Only if refused: how long until the same call is accepted, if there is no other; absent if it cannot be known. */
  retryAfter?: number;
  /** Why the limits could not be checked. */
  error?: CountdowndError;
  /** Takes the call back, once. */
  giveBack(): Promise<void>;
}

/**
 * What tells visitors apart, such as a user's number. No text is an error, so that no visitor can turn a limit off with a strange
 * one; a value of another type is a TypeError. A network address counts however it is written, with a port, in brackets, with a
 * zone, or within ::ffff:0:0/96 or 64:ff9b::/96; an IPv6 address as its /64. null and undefined are one value.
 */
export type Value = string | number | bigint | null | undefined | readonly Value[];

type MaybePromise<Type> = Type | PromiseLike<Type>;

/** The value that has the limits; or an object with one for each limit, and no others. */
export type Values = MaybePromise<Value | Record<string, MaybePromise<Value>>>;

export interface TakeOptions {
  /** How many calls this one counts as: 1 by default, at most as many as each limit accepts at once. */
  weight?: number;
}

/**
 * A call rejects only if the program is wrong, also if onFailure is open: with a TypeError if a value has another type, with an
 * InvalidParameter, with a MethodNotFound of an older daemon, or because a fleet accepts only one rate.
 */
export class Limiter {
  constructor(limits: Limits, options: LimiterOptions);
  /** Resolves after the first call. Rejects if the daemon does not accept the limits. */
  ready(): Promise<void>;
  /** Counts a call, if all limits have room. */
  take(values: Values, options?: TakeOptions): Promise<Decision>;
  /** The same without counting it. */
  look(values: Values, options?: TakeOptions): Promise<Decision>;
  /**
   * Counts a call and does the work; if the work throws, the call is given back.
   * @throws {Refused} if a limit has no room; if the limits cannot be checked and onFailure is closed, the reason.
   */
  run<Result>(values: Values, work: () => Result | Promise<Result>, options?: TakeOptions): Promise<Result>;
  /** Closes the connection. */
  close(): void;
}

/** A limit has no room. */
export class Refused extends CountdowndError {
  readonly retryAfter?: number;
  readonly limits: LimitState[];
}

/**
 * The key of a limit for a value: NAME/VALUE, or NAME/~HASH if the value is not 1 to 64 of A-Z a-z 0-9 . _ @ : -.
 * @throws {TypeError} if the value has another type.
 */
export function limitKey(name: string, value: Value): string;

/** RateLimit-Policy and RateLimit, of draft-ietf-httpapi-ratelimit-headers-11. If refused, RateLimit has the limits without room. */
export function rateLimitHeaders(decision: Decision): Record<string, string>;

/** Retry-After in whole seconds, rounded up, if the call is refused and the time is known. */
export function retryAfterHeader(decision: Decision): Record<string, string>;
