/** For express, and for other frameworks with node's request and response. */

import type { Client, WatchOptions } from "./countdownd.js";

type Next = (error?: any) => void;
/** response: node's ServerResponse, or one that is built on it. */
type Handler<Request> = (request: Request, response: any, next: Next) => Promise<void>;

export interface RelayOptions extends Pick<WatchOptions, "match" | "keys"> {
  client?: Client;
  /** The most pages that one network address can keep connected: 100 by default. */
  pagesPerAddress?: number;
  /** Is told if the watch ends. By default, the error is written to the standard error. */
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

/** One watch of the daemon for many pages, which get server-sent events. It begins at once. */
export class Relay {
  constructor(options?: RelayOptions);
  /** A handler for EventSource. The function names the countdowns that the page may see; the page does not learn their keys. */
  handler<Request = any>(
    keysOf: (request: Request) => Record<string, string> | Promise<Record<string, string>>,
  ): Handler<Request>;
  /** Ends the watch and the answers to the pages. */
  close(): void;
}
