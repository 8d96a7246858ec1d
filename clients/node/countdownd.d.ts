/** A client of countdownd, which keeps keyed countdowns for all programs of a user. */

/** The state of a countdown. */
export type State = "running" | "paused" | "finished" | "cancelled";

/** A countdown at the instant of the reply. Durations and instants (since 1970) are microseconds. */
export interface Countdown {
  key: string;
  state: State;
  /** elapsed: it keeps its remaining time if the system clock is set. wall: it keeps its deadline. */
  clock: "elapsed" | "wall";
  /** The whole duration with all extensions, without pauses. */
  durationUSec: number;
  /** 0 if finished; if cancelled, the time that remained then. */
  remainingUSec: number;
  startedUSec: number;
  /** Only while it runs. */
  deadlineUSec?: number;
  /** Only after its end. */
  endedUSec?: number;
  label?: string;
  metadata?: Record<string, string>;
  /** Whether its end is not kept. */
  forget: boolean;
  /** The number of its last change. */
  revision: number;
}

/** An event of a watch. Ignore types that you do not know. */
export interface Event {
  /**
   * attached, synced, started, restarted, adjusted, paused, resumed, tick, finished, cancelled or heartbeat from the daemon;
   * disconnected or historyTrimmed from this client.
   */
  type: string;
  revision?: number;
  key?: string;
  remainingUSec?: number;
  /** Of finished: how long after the deadline the daemon ended the countdown. */
  lateUSec?: number;
  /** Of attached and every change. */
  countdown?: Countdown;
  /** Of disconnected and historyTrimmed: the reason. */
  error?: CountdowndError;
}

/** How to give up a call. */
export interface CallOptions {
  /** If it is aborted, the call rejects with its reason and its connection is closed; a change may have been made or not. */
  signal?: AbortSignal;
}

/** The parameters of start. */
export interface StartOptions extends CallOptions {
  /** 60 s if neither this nor deadlineUSec is given. */
  durationUSec?: number;
  deadlineUSec?: number;
  /** What happens if the key is running or paused. The default is attach: nothing changes. */
  ifRunning?: "attach" | "restart" | "extend" | "fail" | "wait";
  label?: string;
  metadata?: Record<string, string>;
  forget?: boolean;
  /** The most that may remain after extend or wait. */
  upToUSec?: number;
}

/** The parameters of list. */
export interface ListOptions extends CallOptions {
  /** Glob patterns. If there are neither patterns nor keys, every countdown matches. */
  match?: string[];
  keys?: string[];
  /** running and paused by default. */
  states?: State[];
  /** At most this many, in the order of their deadlines. */
  soonest?: number;
}

/** The parameters of watch. If the signal is aborted, the iteration throws its reason. */
export interface WatchOptions extends CallOptions {
  /** Glob patterns. If there are neither patterns nor keys, every countdown is watched. */
  match?: string[];
  keys?: string[];
  /** The interval of ticks: 1 s by default, 0 for none. */
  tickUSec?: number;
  /** Deliver everything after this revision, of an earlier watch. */
  since?: number;
  heartbeatUSec?: number;
}

/**
 * The events of countdowns: first an attached for each that is running or paused, then synced, then each change and tick.
 *
 * It never ends by itself. If the daemon goes away, there is one disconnected; the watch reconnects and resumes after the
 * newest revision, so no end is missed and none is reported twice. synced then says that the daemon is back. If the daemon no
 * longer has the history, there is a historyTrimmed, and then the current state as in the beginning: ends may have been
 * missed, and list has those that are kept.
 *
 * Iterating throws if the daemon refuses the watch, for example because a pattern is not valid. If the program does not ask for
 * the next event, at most a few replies are buffered: the daemon leaves out ticks, and finally disconnects.
 */
export interface Watch extends AsyncIterableIterator<Event> {
  /** Everything up to this revision was delivered. */
  readonly since: number | undefined;
  /** Closes the connection and ends the iteration, also one that waits for an event. */
  return(): Promise<IteratorResult<Event>>;
  /** The same, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

declare global {
  // As TypeScript 5.2 declares it.
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol;
  }
}

/**
 * A client of this user's daemon, or of the daemon with the socket at that path. Every call has its own connection.
 *
 * A call rejects with NoDaemon if there is none, with Disconnected if the connection ends before the reply, with TimedOut if the
 * daemon is silent for timeoutUSec, with a CallError if the daemon refuses it, and with a RangeError if a number is not a safe
 * integer.
 */
export class Client {
  /**
   * timeoutUSec is 5 s by default; Infinity is no limit. wait, watch, and start with ifRunning wait have none.
   * @throws {RangeError} if timeoutUSec is not positive.
   */
  constructor(path?: string, options?: { timeoutUSec?: number });
  /**
   * The path of the daemon's socket.
   * @throws {AddressError} if there is no place for it. A call rejects with the same error.
   */
  get path(): string;
  /** Makes any call of io.countdownd. */
  call(method: string, parameters?: Record<string, unknown>, options?: CallOptions): Promise<Record<string, any>>;
  /** Starts a countdown, or finds it running. */
  start(key: string, options?: StartOptions): Promise<{
    outcome: "started" | "attached" | "restarted" | "extended";
    countdown: Countdown;
  }>;
  /** The countdown under a key, also after its end as long as the daemon keeps it. */
  get(key: string, options?: CallOptions): Promise<Countdown>;
  /** Countdowns, by default all that are running or paused. */
  list(options?: ListOptions): Promise<Countdown[]>;
  /** Ends a countdown before its deadline. */
  cancel(key: string, options?: CallOptions & { ifRevision?: number }): Promise<Countdown>;
  /** Waits until the countdown ends. If the daemon goes away meanwhile, this waits until it is back. */
  wait(key: string, options?: CallOptions): Promise<Countdown>;
  /** The events of countdowns, by default of all. */
  watch(options?: WatchOptions): Watch;
}

/** Every error of this module. */
export class CountdowndError extends Error {}
/** There is no place for the daemon's socket. */
export class AddressError extends CountdowndError {}
/** The connection ended before the reply, so a change may have been made or not. */
export class Disconnected extends CountdowndError {}
/** Nothing accepts connections at the socket, so the call was not made. */
export class NoDaemon extends Disconnected {
  /** For example ENOENT. */
  readonly code: string;
}
/** The daemon was silent for timeoutUSec, so a change may have been made or not. The connection was closed. */
export class TimedOut extends Disconnected {}
/** The service at the socket does not speak the protocol of countdownd. */
export class ProtocolError extends CountdowndError {}
/** The call has more bytes than a daemon accepts, so it was not made. */
export class CallTooLong extends CountdowndError {}
/**
 * The daemon answered with an error. An error that has no class of its own has this one. The message has no key, which may be a
 * telephone number; it is in the members.
 */
export class CallError extends CountdowndError {
  /** The name on the wire: io.countdownd.NoSuchCountdown. */
  readonly errorName: string;
  readonly parameters: Record<string, unknown>;
}
/** The countdown was never started, or its end is no longer kept. */
export class NoSuchCountdown extends CallError {
  readonly key: string;
}
/** The key is running or paused, and ifRunning was fail, or upToUSec left no room. */
export class AlreadyRunning extends CallError {
  readonly countdown: Countdown;
  /** How long until the same call succeeds if there is no other change; absent if it is paused or calls queue. */
  readonly retryAfterUSec?: number;
}
/** The countdown has changed since ifRevision. */
export class RevisionMismatch extends CallError {
  readonly countdown: Countdown;
}
/** The state of the countdown does not allow the call. */
export class WrongState extends CallError {
  readonly countdown: Countdown;
}
/** The daemon does not keep all ends after since. */
export class HistoryTrimmed extends CallError {
  readonly oldestRevision: number;
}
/** A limit of the daemon is reached. */
export class LimitReached extends CallError {
  readonly limit: string;
  readonly maximum: number;
}
/** The change could not be stored and was not made; or the daemon cannot open its store yet, and does not know. */
export class StorageFailed extends CallError {
  readonly reason: string;
}
/** The daemon's fleet did not answer in time: a change may have been made or not. Ask again with get. */
export class Unreachable extends CallError {
  readonly reason: string;
}
/** A parameter is not valid. */
export class InvalidParameter extends CallError {
  readonly parameter: string;
}
/** The daemon is older than the method. */
export class MethodNotFound extends CallError {
  readonly method: string;
}
/** The daemon serves another user. */
export class PermissionDenied extends CallError {}
