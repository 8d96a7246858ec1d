// A client of countdownd, which keeps keyed countdowns for all programs of a user. countdownd.d.ts documents it.

import { statSync } from "node:fs";
import { createConnection } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

// Errors

export class CountdowndError extends Error {
  get name() { return this.constructor.name; }
}

export class AddressError extends CountdowndError {}

export class Disconnected extends CountdowndError {}

export class NoDaemon extends Disconnected {
  constructor(path, cause) {
    super(`no daemon at ${path}: ${cause.code}`, { cause });
    this.code = cause.code;
  }
}

export class ProtocolError extends CountdowndError {}

export class CallTooLong extends CountdowndError {}

export class CallError extends CountdowndError {
  constructor(errorName, parameters) {
    super(`the daemon refused the call: ${errorName} ${JSON.stringify(parameters)}`);
    this.errorName = errorName;
    this.parameters = parameters;
  }
}

export class NoSuchCountdown extends CallError {
  get key() { return this.parameters.key; }
}

class ErrorWithCountdown extends CallError {
  get countdown() { return this.parameters.countdown; }
}

export class AlreadyRunning extends ErrorWithCountdown {
  get retryAfterUSec() { return this.parameters.retryAfterUSec ?? undefined; }
}

export class RevisionMismatch extends ErrorWithCountdown {}

export class WrongState extends ErrorWithCountdown {}

export class HistoryTrimmed extends CallError {
  get oldestRevision() { return this.parameters.oldestRevision; }
}

export class LimitReached extends CallError {
  get limit() { return this.parameters.limit; }
  get maximum() { return this.parameters.maximum; }
}

class ErrorWithReason extends CallError {
  get reason() { return this.parameters.reason; }
}

export class StorageFailed extends ErrorWithReason {}

export class Unreachable extends ErrorWithReason {}

export class InvalidParameter extends CallError {
  get parameter() { return this.parameters.parameter; }
}

export class MethodNotFound extends CallError {
  get method() { return this.parameters.method; }
}

export class PermissionDenied extends CallError {}

const errorClasses = new Map([
  ...[
    NoSuchCountdown, AlreadyRunning, RevisionMismatch, WrongState, HistoryTrimmed, LimitReached, StorageFailed, Unreachable,
  ].map((kind) => [`io.countdownd.${kind.name}`, kind]),
  ...[InvalidParameter, MethodNotFound, PermissionDenied].map((kind) => [`org.varlink.service.${kind.name}`, kind]),
]);

// The address, by the rule of countdownctl

const pathLimit = 107; // bytes in sockaddr_un, less the NUL

function socketPath() {
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
  const call = JSON.stringify({ method: `io.countdownd.${method}`, parameters, more: more || undefined });
  const length = Buffer.byteLength(call);
  if (length > callLimit) throw new CallTooLong(`the call has ${length} bytes; the daemon accepts at most ${callLimit}`);
  return `${call}\0`;
}

function decodeReply(message) {
  let reply;
  try {
    reply = JSON.parse(message);
  } catch (cause) {
    throw new ProtocolError(`not a reply: ${message.slice(0, 80)}`, { cause });
  }
  const parameters = reply?.parameters ?? {};
  if (typeof (reply ?? 0) !== "object" || typeof parameters !== "object" || typeof (reply.error ?? "") !== "string") {
    throw new ProtocolError(`not a reply: ${message.slice(0, 80)}`);
  }
  if (reply.error != null) throw new (errorClasses.get(reply.error) ?? CallError)(reply.error, parameters);
  return { parameters, continues: reply.continues === true };
}

/** A member of a reply, which must be there. */
function member(parameters, name) {
  if (typeof (parameters[name] ?? 0) === "object") return parameters[name];
  throw new ProtocolError(`not a reply of countdownd: ${name} is missing`);
}

/** A connection for one call, because calls behind a call that waits would wait too. */
class Connection {
  /** Resolves with a connection whose call was sent. */
  static async open(path, method, parameters, more) {
    const call = encodeCall(method, parameters, more);
    for (let attempt = 1; ; attempt += 1) {
      try {
        const socket = await Connection.#connect(path);
        socket.write(call);
        return new Connection(socket);
      } catch (error) {
        // The daemon's queue of new connections is full.
        if (error.code !== "EAGAIN") throw new NoDaemon(path, error);
        await sleep(backoff(attempt));
      }
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
  #parts = [];
  #length = 0;
  #messages = [];

  constructor(socket) {
    this.#socket = socket;
    // Reads only when the next chunk is asked for, so that a slow reader makes the daemon wait.
    this.#chunks = socket[Symbol.asyncIterator]();
  }

  async reply() {
    while (this.#messages.length === 0) this.#receive(await this.#chunk());
    return decodeReply(this.#messages.shift());
  }

  async #chunk() {
    let chunk;
    try {
      chunk = await this.#chunks.next();
    } catch (cause) {
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
  constructor(path = socketPath()) {
    const length = Buffer.byteLength(path);
    if (length > pathLimit) {
      throw new AddressError(`${path} has ${length} bytes, and the path of a socket has at most ${pathLimit}`);
    }
    this.path = path;
  }

  async call(method, parameters = {}) {
    return (await this.#replies(method, parameters, false))[0];
  }

  async start(key, options = {}) {
    const reply = await this.call("Start", { ...options, key });
    member(reply, "countdown");
    return reply;
  }

  async get(key) {
    return member(await this.call("Get", { key }), "countdown");
  }

  async list(options = {}) {
    return (await this.#replies("List", options, true)).flatMap((page) => member(page, "countdowns"));
  }

  async cancel(key, options = {}) {
    return member(await this.call("Cancel", { ...options, key }), "countdown");
  }

  async wait(key) {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return member(await this.call("Wait", { key }), "countdown");
      } catch (error) {
        if (!(error instanceof Disconnected) || (error instanceof NoDaemon && attempt === 0)) throw error;
      }
      await sleep(backoff(attempt));
    }
  }

  watch(options = {}) {
    return new Watch(this.path, options);
  }

  async #replies(method, parameters, more) {
    const connection = await Connection.open(this.path, method, parameters, more);
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
    const events = member(reply, "events");
    if (!Array.isArray(events)) throw new ProtocolError("not a reply of countdownd: events is no array");
    this.#events.push(...events);
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
  #closed = new AbortController();
  /** One event is waited for after the other, though next() may be called meanwhile. */
  #turn = Promise.resolve();

  constructor(path, options) {
    this.#path = path;
    this.#state = new ResumableWatch(options);
  }

  get since() { return this.#state.since; }

  [Symbol.asyncIterator]() { return this; }

  next() {
    const result = this.#turn.then(() => this.#next());
    this.#turn = result.catch(() => {});
    return result;
  }

  async return() {
    this.#closed.abort();
    this.#disconnect();
    return { done: true, value: undefined };
  }

  async #next() {
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
    return this.return();
  }

  async #receive() {
    if (!this.#connection) {
      await sleep(this.#state.delay(), undefined, { signal: this.#closed.signal });
      this.#connection = await Connection.open(this.#path, "Watch", this.#state.request, true);
    }
    const { parameters, continues } = await this.#connection.reply();
    this.#state.receive(parameters);
    if (!continues) throw new Disconnected("the daemon ended the watch");
  }

  #disconnect() {
    this.#connection?.close();
    this.#connection = undefined;
  }
}
