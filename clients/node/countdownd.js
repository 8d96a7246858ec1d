// A client of countdownd, which keeps keyed countdowns for all programs of a user. countdownd.d.ts documents it.

import { statSync } from "node:fs";
import { createConnection } from "node:net";
import { addAbortSignal } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

// The values of replies

const isString = (value) => typeof value === "string";
const isInteger = Number.isSafeInteger;
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isArrayOf = (isElement) => (value) => Array.isArray(value) && value.every(isElement);
const isOptional = (isValue) => (value) => value == null || isValue(value);
/** Whether a value is an object with members of these types. It may have others, of a newer daemon. */
const hasMembers = (types) => (value) =>
  isObject(value) && Object.entries(types).every(([name, isOfType]) => isOfType(value[name]));

const isCountdown = hasMembers({
  key: isString,
  state: isString,
  clock: isString,
  durationUSec: isInteger,
  remainingUSec: isInteger,
  startedUSec: isInteger,
  deadlineUSec: isOptional(isInteger),
  endedUSec: isOptional(isInteger),
  label: isOptional(isString),
  metadata: isOptional((value) => isObject(value) && Object.values(value).every(isString)),
  forget: (value) => typeof value === "boolean",
  revision: isInteger,
});
const hasCountdown = hasMembers({ countdown: isCountdown });
const isStarted = hasMembers({ outcome: isString, countdown: isCountdown });
const isPage = hasMembers({ countdowns: isArrayOf(isCountdown) });
const isEvent = hasMembers({
  type: isString,
  revision: isOptional(isInteger),
  key: isOptional(isString),
  remainingUSec: isOptional(isInteger),
  lateUSec: isOptional(isInteger),
  countdown: isOptional(isCountdown),
});
const hasEvents = hasMembers({ events: isArrayOf(isEvent) });

/** The parameters of a reply that has to be of this type. */
function checked(parameters, isOfType) {
  if (!isOfType(parameters)) throw new ProtocolError();
  return parameters;
}

// Errors

export class CountdowndError extends Error {}

export class AddressError extends CountdowndError {}

export class Disconnected extends CountdowndError {}

export class NoDaemon extends Disconnected {
  constructor(path, cause) {
    super(`no daemon at ${path}: ${cause.code}`, { cause });
    this.code = cause.code;
  }
}

export class TimedOut extends Disconnected {
  constructor(milliseconds) {
    super(`the daemon has not answered for ${milliseconds / 1000} s; a change may have been made`);
  }
}

export class ProtocolError extends CountdowndError {
  constructor(message = "the reply is not one of countdownd") {
    super(message);
  }
}

export class CallTooLong extends CountdowndError {}

/** The parameters of errors that name no countdown, and so may stand in a log. */
const shownParameters = ["limit", "maximum", "reason", "parameter", "method", "oldestRevision", "retryAfterUSec"];

export class CallError extends CountdowndError {
  /** Whether a reply has the parameters of the error. */
  static isComplete = isObject;

  constructor(errorName, parameters) {
    const shown = shownParameters.filter((name) => name in parameters).map((name) => `${name} ${parameters[name]}`);
    super(`the daemon refused the call: ${errorName.split(".").pop()}${shown.length > 0 ? ` (${shown.join(", ")})` : ""}`);
    this.errorName = errorName;
    // Not enumerable, because console.log shows those of an error, and a key may be a telephone number.
    Object.defineProperty(this, "parameters", { value: parameters });
  }
}

export class NoSuchCountdown extends CallError {
  static isComplete = hasMembers({ key: isString });
  get key() { return this.parameters.key; }
}

class ErrorWithCountdown extends CallError {
  static isComplete = hasCountdown;
  get countdown() { return this.parameters.countdown; }
}

export class AlreadyRunning extends ErrorWithCountdown {
  static isComplete = hasMembers({ countdown: isCountdown, retryAfterUSec: isOptional(isInteger) });
  get retryAfterUSec() { return this.parameters.retryAfterUSec ?? undefined; }
}

export class RevisionMismatch extends ErrorWithCountdown {}

export class WrongState extends ErrorWithCountdown {}

export class HistoryTrimmed extends CallError {
  static isComplete = hasMembers({ oldestRevision: isInteger });
  get oldestRevision() { return this.parameters.oldestRevision; }
}

export class LimitReached extends CallError {
  static isComplete = hasMembers({ limit: isString, maximum: isInteger });
  get limit() { return this.parameters.limit; }
  get maximum() { return this.parameters.maximum; }
}

class ErrorWithReason extends CallError {
  static isComplete = hasMembers({ reason: isString });
  get reason() { return this.parameters.reason; }
}

export class StorageFailed extends ErrorWithReason {}

export class Unreachable extends ErrorWithReason {}

export class InvalidParameter extends CallError {
  static isComplete = hasMembers({ parameter: isString });
  get parameter() { return this.parameters.parameter; }
}

export class MethodNotFound extends CallError {
  static isComplete = hasMembers({ method: isString });
  get method() { return this.parameters.method; }
}

export class PermissionDenied extends CallError {}

// The names are written out in objects, because a minifier renames classes.
const errorsOfCountdownd = {
  NoSuchCountdown, AlreadyRunning, RevisionMismatch, WrongState, HistoryTrimmed, LimitReached, StorageFailed, Unreachable,
};
const errorsOfVarlink = { InvalidParameter, MethodNotFound, PermissionDenied };
const otherErrors = {
  CountdowndError, AddressError, Disconnected, NoDaemon, TimedOut, ProtocolError, CallTooLong, CallError,
};
for (const [name, kind] of Object.entries({ ...errorsOfCountdownd, ...errorsOfVarlink, ...otherErrors })) {
  Object.defineProperty(kind.prototype, "name", { value: name });
}

const errorClasses = new Map([
  ...Object.entries(errorsOfCountdownd).map(([name, kind]) => [`io.countdownd.${name}`, kind]),
  ...Object.entries(errorsOfVarlink).map(([name, kind]) => [`org.varlink.service.${name}`, kind]),
]);

// The address, by the rule of countdownctl

const pathLimit = 107; // bytes in sockaddr_un, less the NUL

function socketPath(given) {
  const path = given ?? defaultPath();
  const length = Buffer.byteLength(path);
  if (length > pathLimit) {
    throw new AddressError(`${path} has ${length} bytes, and the path of a socket has at most ${pathLimit}`);
  }
  return path;
}

function defaultPath() {
  return process.env.COUNTDOWND_SOCKET || `${runtimeDirectory()}/countdownd/io.countdownd`;
}

function runtimeDirectory() {
  const uid = process.getuid();
  const named = process.env.XDG_RUNTIME_DIR ?? "";
  const isNamed = named.startsWith("/"); // the XDG Base Directory Specification ignores relative paths
  const path = isNamed ? named : `/run/user/${uid}`;
  const fault = directoryFault(path, isNamed ? [uid, 0] : [uid]);
  if (fault && isNamed) throw new AddressError(`XDG_RUNTIME_DIR is ${JSON.stringify(path)}, which ${fault}; correct it`);
  if (fault) throw new AddressError(`${path} ${fault}: without a session, \`loginctl enable-linger\` makes it`);
  return path;
}

/** Why other users could replace a socket in the directory, or why it cannot hold one. */
function directoryFault(path, owners) {
  let found;
  try {
    found = statSync(path);
  } catch (error) {
    return error.code === "ENOENT" ? "is missing" : `cannot be examined: ${error.code}`;
  }
  if (!found.isDirectory()) return "is not a directory";
  if (!owners.includes(found.uid)) return `belongs to UID ${found.uid}`;
  if (found.mode & 0o022) return `can be written by others (mode 0${(found.mode & 0o7777).toString(8)})`;
}

// The wire

/** A reply of countdownd has about 64 KiB. A longer message than this is not one. */
const messageLimit = 16 << 20;

/** The daemon ends a connection with a longer call. */
const callLimit = 256 << 10;

function encodeCall(method, parameters, more) {
  const call = JSON.stringify({ method: `io.countdownd.${method}`, parameters, more }, (name, value) => {
    // JSON has null for NaN and Infinity, which the daemon takes for a parameter that is left out.
    if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
    throw new RangeError(`${name} is ${value}; expected a safe integer`);
  });
  const length = Buffer.byteLength(call);
  if (length > callLimit) throw new CallTooLong(`the call has ${length} bytes; the daemon accepts at most ${callLimit}`);
  return `${call}\0`;
}

function decodeReply(message, more) {
  let reply;
  try {
    reply = JSON.parse(message);
  } catch {
    throw new ProtocolError();
  }
  const parameters = reply?.parameters ?? {};
  const continues = reply?.continues === true;
  if (!isObject(reply) || !isObject(parameters) || !isOptional(isString)(reply.error) || (continues && !more)) {
    throw new ProtocolError();
  }
  if (reply.error == null) return { parameters, continues };
  const kind = errorClasses.get(reply.error) ?? CallError;
  throw new kind(reply.error, checked(parameters, kind.isComplete));
}

/** Waits. Rejects with the reason of the signal if it is aborted. */
async function pause(milliseconds, signal) {
  await sleep(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted());
}

/** A connection for one call, because calls behind a call that waits would wait too. */
class Connection {
  /** Resolves with a connection whose call was sent. A timeout of 0 is none; with a signal, the call can be given up. */
  static async open(path, method, parameters, { more, timeout = 0, signal }) {
    const call = encodeCall(method, parameters, more);
    const end = timeout > 0 ? performance.now() + timeout : Infinity;
    for (let attempt = 1; ; attempt += 1) {
      signal?.throwIfAborted();
      try {
        const socket = await Connection.#connect(path);
        socket.write(call);
        return new Connection(socket, { more, timeout, signal });
      } catch (error) {
        // The daemon's queue of new connections is full.
        if (error.code !== "EAGAIN" || performance.now() + backoff(attempt) > end) throw new NoDaemon(path, error);
      }
      await pause(backoff(attempt), signal);
    }
  }

  static #connect(path) {
    return new Promise((resolve, reject) => {
      const socket = createConnection({ path });
      socket.once("error", reject);
      socket.once("connect", () => resolve(socket));
      // What fails later is thrown by the iteration.
      socket.on("error", () => {});
    });
  }

  #socket;
  #chunks;
  #more;
  #signal;
  #parts = [];
  #length = 0;
  #messages = [];

  constructor(socket, { more, timeout, signal }) {
    this.#socket = socket;
    this.#more = more;
    this.#signal = signal;
    if (signal) addAbortSignal(signal, socket);
    socket.setTimeout(timeout, () => this.#endIfSilent(timeout));
    // Reads only when the next chunk is asked for, so that a slow reader makes the daemon wait.
    this.#chunks = socket[Symbol.asyncIterator]();
  }

  /** If the program kept the event loop busy, a reply may have come and was not read yet. */
  #endIfSilent(timeout) {
    const { bytesRead } = this.#socket;
    setImmediate(() => {
      if (this.#socket.bytesRead > bytesRead || this.#socket.readableLength > 0) return this.#socket.setTimeout(timeout);
      return this.#socket.destroy(new TimedOut(timeout));
    });
  }

  async reply() {
    while (this.#messages.length === 0) this.#receive(await this.#chunk());
    return decodeReply(this.#messages.shift(), this.#more);
  }

  async #chunk() {
    let chunk;
    try {
      chunk = await this.#chunks.next();
    } catch (cause) {
      this.#signal?.throwIfAborted();
      if (cause instanceof TimedOut) throw cause;
      throw new Disconnected(`the connection to the daemon failed: ${cause.code}`, { cause });
    }
    if (chunk.done) throw new Disconnected("the daemon closed the connection");
    return chunk.value;
  }

  #receive(chunk) {
    let start = 0;
    for (let end; (end = chunk.indexOf(0, start)) >= 0; start = end + 1) {
      this.#messages.push(Buffer.concat([...this.#parts, chunk.subarray(start, end)]).toString());
      this.#parts = [];
      this.#length = 0;
    }
    if (start === chunk.length) return;
    this.#parts.push(chunk.subarray(start));
    this.#length += chunk.length - start;
    if (this.#length > messageLimit) throw new ProtocolError(`a message has more than ${messageLimit} bytes`);
  }

  close() {
    this.#socket.destroy();
  }
}

/** The milliseconds to wait before an attempt: none before attempt 0, then 100, doubled each time up to 30 s. */
function backoff(attempt) {
  return attempt > 0 ? Math.min(100 * 2 ** Math.min(attempt - 1, 20), 30_000) : 0;
}

// Calls

export class Client {
  #given;
  #path;
  /** In milliseconds; 0 is none, also beyond the longest that a timer can have. */
  #timeout;

  constructor(path, { timeoutUSec = 5_000_000 } = {}) {
    if (!(timeoutUSec > 0)) throw new RangeError(`timeoutUSec is ${timeoutUSec}; expected a positive number, or Infinity`);
    const milliseconds = Math.ceil(timeoutUSec / 1000);
    this.#timeout = milliseconds < 2 ** 31 ? milliseconds : 0;
    this.#given = path;
  }

  // Not in the constructor, so that a module can make a client though the daemon has no place yet.
  get path() { return (this.#path ??= socketPath(this.#given)); }

  async call(method, parameters = {}, { signal } = {}) {
    return (await this.#replies(method, parameters, { signal }))[0];
  }

  async start(key, { signal, ...parameters } = {}) {
    return checked(await this.call("Start", { ...parameters, key }, { signal }), isStarted);
  }

  async get(key, options) {
    return checked(await this.call("Get", { key }, options), hasCountdown).countdown;
  }

  async list({ signal, ...parameters } = {}) {
    const pages = await this.#replies("List", parameters, { more: true, signal });
    return pages.flatMap((page) => checked(page, isPage).countdowns);
  }

  async cancel(key, { signal, ...parameters } = {}) {
    return checked(await this.call("Cancel", { ...parameters, key }, { signal }), hasCountdown).countdown;
  }

  async wait(key, { signal } = {}) {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return checked(await this.call("Wait", { key }, { signal }), hasCountdown).countdown;
      } catch (error) {
        const isAbsent = error instanceof NoDaemon || error instanceof StorageFailed;
        if (isAbsent ? attempt === 0 : !(error instanceof Disconnected)) throw error;
      }
      await pause(backoff(attempt), signal);
    }
  }

  watch(options = {}) {
    return new Watch(this.path, options);
  }

  async #replies(method, parameters, { more, signal }) {
    const waits = method === "Wait" || parameters.ifRunning === "wait";
    const timeout = waits ? 0 : this.#timeout;
    const connection = await Connection.open(this.path, method, parameters, { more, timeout, signal });
    const replies = [];
    try {
      for (let continues = true; continues; ) {
        const reply = await connection.reply();
        replies.push(reply.parameters);
        continues = reply.continues;
      }
    } finally {
      connection.close();
    }
    return replies;
  }
}

// Watching

const hour = 3_600_000_000;

/** Early releases of node 18 do not have it. */
const asyncDispose = Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose");

/** A watch as a state machine without I/O: which call to make next, how far events were delivered, when to try again. */
class ResumableWatch {
  /** Everything up to this revision was delivered; undefined before the first synced. */
  since;
  #options;
  #isOpening;
  #hasBegun = false;
  #attempts; // since the daemon was lost; undefined while it is there
  #trims = 0; // since synced arrived last
  #events = [];

  constructor(options) {
    this.#options = { ...options, heartbeatUSec: options.heartbeatUSec ?? hour };
    this.since = options.since ?? undefined;
    this.#isOpening = this.since === undefined;
  }

  get request() {
    return { ...this.#options, since: this.since };
  }

  /**
   * The milliseconds to wait before the next attempt, which is counted. The first attempt after a loss comes at once, because
   * a service manager keeps the socket while the daemon restarts. The pauses grow with each failure and with each
   * HistoryTrimmed, until synced arrives.
   */
  delay() {
    const delay = backoff(Math.max(this.#attempts ?? 0, this.#trims - 1));
    if (this.#attempts !== undefined) this.#attempts += 1;
    return delay;
  }

  receive(reply) {
    this.#hasBegun = true;
    this.#events.push(...checked(reply, hasEvents).events);
  }

  /** The next event to deliver; undefined if there is none. */
  next() {
    const event = this.#events.shift();
    if (event?.type === "synced") {
      this.#isOpening = false;
      this.#attempts = undefined;
      this.#trims = 0;
    }
    // Before synced, changes may arrive earlier than countdowns with lower revisions.
    if (event?.revision != null && !this.#isOpening) this.since = Math.max(this.since ?? 0, event.revision);
    return event;
  }

  /** Notes that the watch has ended. Throws the error if another attempt would fail in the same way. */
  fail(error) {
    if (error instanceof HistoryTrimmed) {
      this.since = undefined;
      this.#isOpening = true;
      this.#trims += 1;
      this.#events.push({ type: "historyTrimmed", error });
    } else if (!this.#isTemporary(error)) {
      throw error;
    } else if (this.#attempts === undefined) {
      this.#attempts = 0;
      this.#events.push({ type: "disconnected", error });
    }
  }

  #isTemporary(error) {
    if (error instanceof NoDaemon) return this.#hasBegun || !["EACCES", "EPERM"].includes(error.code);
    if (error instanceof LimitReached) return !error.limit.startsWith("pattern");
    return [Disconnected, StorageFailed, Unreachable].some((kind) => error instanceof kind);
  }
}

class Watch {
  #path;
  #state;
  #connection;
  #signal;
  #closed = new AbortController();
  /** One event is waited for after the other, though next() may be called meanwhile. */
  #turn = Promise.resolve();

  constructor(path, { signal, ...parameters }) {
    this.#path = path;
    this.#state = new ResumableWatch(parameters);
    this.#signal = signal;
    signal?.addEventListener("abort", () => this.#close(), { signal: this.#closed.signal });
  }

  get since() { return this.#state.since; }

  [Symbol.asyncIterator]() { return this; }

  next() {
    const result = this.#turn.then(() => this.#next());
    this.#turn = result.catch(() => {});
    return result;
  }

  async return() {
    this.#signal = undefined;
    this.#close();
    return { done: true, value: undefined };
  }

  async [asyncDispose]() {
    await this.return();
  }

  async #next() {
    this.#signal?.throwIfAborted();
    while (!this.#closed.signal.aborted) {
      const value = this.#state.next();
      if (value) return { done: false, value };
      try {
        await this.#receive();
      } catch (error) {
        this.#disconnect();
        if (this.#closed.signal.aborted) break;
        this.#state.fail(error);
      }
    }
    this.#signal?.throwIfAborted();
    return this.return();
  }

  async #receive() {
    if (!this.#connection) {
      const { signal } = this.#closed;
      await pause(this.#state.delay(), signal);
      this.#connection = await Connection.open(this.#path, "Watch", this.#state.request, { more: true, signal });
    }
    const { parameters, continues } = await this.#connection.reply();
    this.#state.receive(parameters);
    if (!continues) throw new Disconnected("the daemon ended the watch");
  }

  #close() {
    this.#closed.abort();
    this.#disconnect();
  }

  #disconnect() {
    this.#connection?.close();
    this.#connection = undefined;
  }
}
