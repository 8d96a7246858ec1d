/** A client of countdownd, which keeps keyed countdowns for all programs of a user. Durations are milliseconds. */

/** The state of a countdown. */
export type State = "running" | "paused" | "finished" | "cancelled";

/** A countdown at the instant of the reply. */
export interface Countdown {
  key: string;
  state: State;
  /** elapsed: it keeps its remaining time if the system clock is set. wall: it keeps its deadline. */
  clock: "elapsed" | "wall";
  /** The whole duration with all extensions, without pauses. */
  duration: number;
  /** 0 if finished; if cancelled, the time that remained then. */
  remaining: number;
  started: Date;
  /** The same instant in microseconds, which tells the runs of a key apart. */
  startedUSec: number;
  /** Only while it runs. */
  deadline?: Date;
  /** Only after its end. */
  ended?: Date;
  label?: string;
  metadata?: Record<string, string>;
  /** Whether its end is not kept. */
  forget: boolean;
  /** The number of its last change. */
  revision: number;
}

/** An event about a countdown. Only an adjusted that was caused by the system clock has no revision. */
export interface Change<Type extends string> {
  type: Type;
  revision?: number;
  key: string;
  remaining: number;
  countdown: Countdown;
}

/** An event of a watch. A newer daemon may send other types: a switch over the type has to ignore these. */
export type CountdownEvent =
  | Change<"attached" | "started" | "restarted" | "adjusted" | "paused" | "resumed" | "cancelled">
  /** late: how long after the deadline the daemon ended the countdown. */
  | (Change<"finished"> & { late?: number })
  | { type: "tick"; key: string; remaining: number; countdown?: undefined }
  | { type: "synced" | "heartbeat"; revision: number; key?: undefined; countdown?: undefined }
  /** Of this client: the countdown ended with forget while the watch was away, so that it is not known how. */
  | { type: "forgotten"; key: string; countdown?: undefined }
  /** Of this client. error: the reason. */
  | { type: "disconnected" | "historyTrimmed"; error: CountdowndError; key?: undefined; countdown?: undefined };

/** How to give up a call. */
export interface CallOptions {
  /** If it is aborted, the call rejects with its reason; a change may have been made or not. */
  signal?: AbortSignal;
}

/** What start and startAll have in common. */
export interface CooldownOptions {
  /** 60 s by default. */
  duration?: number;
  /** The most that may remain. With it, upTo / duration calls succeed at once, then one per duration. */
  upTo?: number;
  /** A number of times per period, instead of duration and upTo: 3/10m is three times at once, then once per 3:20. */
  rate?: string;
  label?: string;
  metadata?: Record<string, string>;
  /** The end is reported to current watches and waiting calls, and is not kept. */
  forget?: boolean;
}

/** The parameters of start. */
export interface StartOptions extends CooldownOptions, CallOptions {
  /** Instead of duration. */
  deadline?: Date;
  /**
   * What happens if the key is running or paused:
   * attach: nothing changes; the default.
   * restart: the countdown begins again with these options.
   * extend: the duration is added; with a rate, this is the default.
   * later: the later deadline wins.
   * fail: the call rejects with AlreadyRunning.
   * wait: the call waits until its turn comes, then it starts the countdown.
   */
  ifRunning?: "attach" | "restart" | "extend" | "later" | "fail" | "wait";
  /** With later: the longest that the countdown runs in all, so that a debounce ends at some time. */
  maxDuration?: number;
  /** With wait: rejects with AlreadyRunning if this many calls wait already. */
  queueUpTo?: number;
}

/** The answer to start. */
export interface Started {
  outcome: "started" | "attached" | "restarted" | "extended";
  countdown: Countdown;
}

/** A cooldown for startAll; with upTo or rate, a rate. */
export interface Cooldown extends CooldownOptions {
  key: string;
}

/** The room of a cooldown after the call. */
export interface Room {
  key: string;
  /** How many such calls it would accept now, one after the other. */
  left: number;
  /** How long until left is one more; absent if everything is left, or if it cannot be known. */
  more?: number;
  /** Absent if the key is neither running nor paused. */
  countdown?: Countdown;
}

/** The answer to startAll. */
export interface AllStarted {
  /** Whether it was done; with dryRun, whether it would be. */
  accepted: boolean;
  /** In the order of the cooldowns. */
  rooms: Room[];
  /** Only if not accepted: how long until the same call is, if nothing else changes; absent if it cannot be known. */
  retryAfter?: number;
}

/** With ifRevision, the call rejects with RevisionMismatch if the countdown has changed since that revision. */
export interface ChangeOptions extends CallOptions {
  ifRevision?: number;
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
  tick?: number;
  /** Deliver everything after this revision, of an earlier watch. */
  since?: number;
  heartbeat?: number;
}

/** The state of the daemon. Its other members are documented in the interface; their names have no USec here. */
export interface Status {
  version: string;
  started: Date;
  running: number;
  paused: number;
  watchers: number;
  connections: number;
  revision: number;
  limits: Record<string, number>;
  counters: Record<string, number>;
  [member: string]: unknown;
}

/**
 * The events of countdowns: first an attached for each that is running or paused, then synced, then each change and tick.
 *
 * It never ends by itself. If the daemon goes away, there is one disconnected; the watch reconnects and resumes after the
 * newest revision, so no end is missed and none is reported twice. synced then says that the daemon is back; before it, there is
 * a forgotten for each countdown that was reported before and ended meanwhile with forget. If the daemon no longer has the
 * history, there is a historyTrimmed, and then the current state as in the beginning: ends may have been missed, and list has
 * those that are kept.
 *
 * Iterating throws if the daemon refuses the watch, for example because a pattern is not valid. If the program does not ask for
 * the next event, at most a few replies are buffered: the daemon leaves out ticks, and finally disconnects.
 */
export interface Watch extends AsyncIterableIterator<CountdownEvent> {
  /** Everything up to this revision was delivered. */
  readonly since: number | undefined;
  /** Closes the connection and ends the iteration, also one that waits for an event. */
  return(): Promise<IteratorResult<CountdownEvent>>;
  /** The same, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The parameters of follow: those of start, or none of them. Without duration, deadline and rate it only finds. */
export interface FollowOptions extends StartOptions {
  /** The interval of ticks: 1 s by default, 0 for none. */
  tick?: number;
  /** Without a length: a key that is neither running nor paused is the end, and no error. */
  missingOk?: boolean;
}

/** What happens to a followed countdown. The last step is finished, cancelled or gone. */
export type Step =
  /** started or attached is the first one; attached comes again when the daemon is back. */
  | {
      type: "started" | "attached" | "tick" | "paused" | "resumed" | "adjusted" | "restarted" | "cancelled";
      remaining: number;
      countdown: Countdown;
    }
  /** late: how long after the deadline the daemon ended the countdown. */
  | { type: "finished"; remaining: number; countdown: Countdown; late?: number }
  /** The daemon is away: a program can count on by the deadline. Nothing is known of the countdown before the first step. */
  | { type: "away"; remaining: number; countdown?: Countdown; error: CountdowndError }
  /** The countdown has ended, and it is not known how: it was started with forget, or the daemon lost its history. */
  | { type: "gone"; remaining: number; countdown?: Countdown };

/** The steps of one countdown. Leaving the loop closes the watch, and so does the signal; the countdown stays. */
export interface Follow extends AsyncIterableIterator<Step> {
  /** Ends the iteration, also one that waits for a step. */
  return(): Promise<IteratorResult<Step>>;
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
 * A client of this user's daemon, or of the daemon with the socket at that path. Calls share one connection, which is kept; each
 * wait, watch, list, and start with ifRunning wait has its own. A client does not keep the process alive.
 *
 * A call rejects with NoDaemon if there is none, with Disconnected if the connection ends before the reply, with TimedOut if the
 * daemon is silent for the timeout, with a CallError if the daemon refuses it, and with a RangeError if an option is not valid.
 */
export class Client {
  /**
   * timeout is 5 s by default; Infinity is no limit. wait, watch, and start with ifRunning wait have none.
   * @throws {RangeError} if the timeout is not positive.
   */
  constructor(options?: { path?: string; timeout?: number });
  /**
   * The path of the daemon's socket: by default $COUNTDOWND_SOCKET, or its place in the runtime directory. The option and the
   * variable may also be an address, unix:PATH.
   * @throws {AddressError} if there is no place for it. A call rejects with the same error.
   */
  get path(): string;
  /** Starts a countdown, or finds it running. */
  start(key: string, options?: StartOptions): Promise<Started>;
  /** Starts or extends the countdowns of all cooldowns, or of none. With dryRun nothing changes. */
  startAll(cooldowns: Cooldown[], options?: CallOptions & { dryRun?: boolean }): Promise<AllStarted>;
  /** The countdown under a key, also after its end as long as the daemon keeps it. */
  get(key: string, options?: CallOptions): Promise<Countdown>;
  /** Countdowns, by default all that are running or paused. */
  list(options?: ListOptions): Promise<Countdown[]>;
  /** Ends a countdown before its deadline. */
  cancel(key: string, options?: ChangeOptions): Promise<Countdown>;
  /** Finishes a countdown now. */
  finish(key: string, options?: ChangeOptions): Promise<Countdown>;
  /** Freezes the remaining time. */
  pause(key: string, options?: ChangeOptions): Promise<Countdown>;
  /** Runs again for the remaining time. */
  resume(key: string, options?: ChangeOptions): Promise<Countdown>;
  /** Changes the remaining time by a duration, which may be negative, or to a deadline. */
  adjust(key: string, options: ChangeOptions & ({ by: number } | { deadline: Date })): Promise<Countdown>;
  /**
   * Waits until the countdown ends. If the daemon goes away meanwhile, this waits until it is back. With missingOk, a countdown
   * that was never started, or whose end is no longer kept, is undefined and no error.
   */
  wait(key: string, options?: CallOptions & { missingOk?: false }): Promise<Countdown>;
  wait(key: string, options: CallOptions & { missingOk: boolean }): Promise<Countdown | undefined>;
  /** The events of countdowns, by default of all. */
  watch(options?: WatchOptions): Watch;
  /**
   * Starts a countdown, or finds it, and reports it to its end: first a started or attached, then a tick per tick and each change,
   * and last a finished, cancelled or gone.
   *
   * If the daemon goes away there is one away, and an attached when it is back: no end is missed or comes twice, and the countdown
   * is not started again. To know its own start after a lost answer, this gives it a token in metadata, under the name run. Iterating
   * throws what start rejects with; NoDaemon only in the beginning; and the reason of the signal if it is aborted.
   * @throws {TypeError} if there are options of start, and no duration, deadline or rate.
   */
  follow(key: string, options?: FollowOptions): Follow;
  /** The state of the daemon. */
  status(options?: CallOptions): Promise<Status>;
  /** Any call of io.countdownd, with the names and the microseconds of the interface. */
  call(method: string, parameters?: Record<string, unknown>, options?: CallOptions): Promise<Record<string, any>>;
  /** Closes the kept connection; calls without an answer reject with Disconnected. A later call connects again. */
  close(): void;
}

/** Every error of this module. */
export class CountdowndError extends Error {
  /** The name of the class as a constant, such as ALREADY_RUNNING; of an error that has no class, its name on the wire. */
  readonly code: string;
  /** The key of the call. It is not in the message, because it may be a telephone number. */
  readonly key?: string;
}
/** There is no place for the daemon's socket. */
export class AddressError extends CountdowndError {}
/** The connection ended before the reply, so a change may have been made or not. */
export class Disconnected extends CountdowndError {}
/** Nothing accepts connections at the socket, so the call was not made. */
export class NoDaemon extends Disconnected {
  /** Its code is, for example, ENOENT. */
  readonly cause: Error & { code: string };
}
/** The daemon was silent for the timeout, so a change may have been made or not. The connection was closed. */
export class TimedOut extends Disconnected {}
/** The service at the socket does not speak the protocol of countdownd. */
export class ProtocolError extends CountdowndError {}
/** The daemon could not read the call, for example because a text ends in the middle of an emoji, so it was not made. */
export class InvalidCall extends CountdowndError {}
/** The call has more bytes than a daemon accepts, so it was not made. */
export class CallTooLong extends InvalidCall {}
/**
 * The daemon answered with an error. An error that has no class of its own has this one.
 */
export class CallError extends CountdowndError {
  /** The name on the wire: io.countdownd.NoSuchCountdown. */
  readonly errorName: string;
  /** As on the wire. */
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
  readonly retryAfter?: number;
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
/** The daemon is older than the method: restart it after the upgrade. */
export class MethodNotFound extends CallError {
  readonly method: string;
}
/** The daemon serves another user. */
export class PermissionDenied extends CallError {}
