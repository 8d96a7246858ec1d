/** A daemon for tests. */

import type { Client } from "./countdownd.js";

/** A private daemon in a temporary folder. It ends with the process, if not before. */
export interface TestDaemon {
  /** Its socket. */
  readonly path: string;
  /** A client of it. */
  client(options?: { timeout?: number }): Client;
  /**
   * Lets that many milliseconds pass for each running countdown, by adjusting it: some end, in the order of their deadlines, and
   * queued calls are served. Also their durations get shorter, so what maxDuration still allows is as before. The system clock,
   * start times and paused countdowns stay as they are.
   */
  advance(milliseconds: number): Promise<void>;
  /** Ends the daemon, by default as a crash would. start begins again with the same countdowns. */
  kill(signal?: "SIGKILL" | "SIGTERM"): Promise<void>;
  start(): Promise<void>;
  /** Stops the daemon, and starts it again. */
  restart(): Promise<void>;
  /** Ends the daemon and removes its folder. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts the program countdownd, or the program that COUNTDOWND_PROGRAM names. */
export function startDaemon(options?: { program?: string }): Promise<TestDaemon>;
