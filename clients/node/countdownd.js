// A client of countdownd, which keeps keyed countdowns for all programs of a user. countdownd.d.ts documents it.

import { statSync } from "node:fs";
import { createConnection } from "node:net";
import { backoff, Following } from "./follow.js";
import { parseRate } from "./rate.js";

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
const hasEventMembers = hasMembers({
  type: isString,
  revision: isOptional(isInteger),
  key: isOptional(isString),
  remainingUSec: isOptional(isInteger),
  lateUSec: isOptional(isInteger),
  countdown: isOptional(isCountdown),
});
const changes = ["attached", "started", "restarted", "adjusted", "paused", "resumed", "finished", "cancelled"];
/** The members that an event of a type must have. Other types are of a newer daemon. */
const eventMembers = new Map([
  ...changes.map((type) => [type, ["key", "remainingUSec", "countdown"]]),
  ["tick", ["key", "remainingUSec"]], ["synced", ["revision"]], ["heartbeat", ["revision"]],
]);
const isEvent = (value) =>
  hasEventMembers(value) && (eventMembers.get(value.type) ?? []).every((name) => value[name] != null);
const hasEvents = hasMembers({ events: isArrayOf(isEvent) });
const isRoom = hasMembers({
  key: isString, left: isInteger, moreUSec: isOptional(isInteger), countdown: isOptional(isCountdown),
});
const hasRooms = hasMembers({
  accepted: (value) => typeof value === "boolean", rooms: isArrayOf(isRoom), retryAfterUSec: isOptional(isInteger),
});
const isStatus = hasMembers({
  version: isString, startedUSec: isInteger, running: isInteger, paused: isInteger, revision: isInteger,
  limits: isObject, counters: isObject,
});

/** The parameters of a reply that has to be of this type. */
function checked(parameters, isOfType) {
  if (!isOfType(parameters)) throw new ProtocolError();
  return parameters;
}

// Milliseconds and Dates, which are microseconds on the wire

const instants = new Set(["startedUSec", "deadlineUSec", "endedUSec", "sinceUSec"]);

/**
 * A value of a reply with the names and units of this module. A member that is null is left out. startedUSec stays besides
 * started, because it tells the runs of a key apart.
 */
function fromWire(value) {
  if (Array.isArray(value)) return value.map(fromWire);
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.flatMap(([name, member]) => {
    if (!name.endsWith("USec") || typeof member !== "number") return [[name, fromWire(member)]];
    const converted = [name.slice(0, -4), instants.has(name) ? new Date(member / 1000) : member / 1000];
    return name === "startedUSec" ? [converted, [name, member]] : [converted];
  }));
}

const durations = new Set(["duration", "upTo", "maxDuration", "by", "tick", "heartbeat"]);

/** Milliseconds as microseconds. */
function microseconds(name, milliseconds) {
  const value = Math.round(milliseconds * 1000);
  if (typeof milliseconds === "number" && Number.isSafeInteger(value)) return value;
  throw new RangeError(`${name} is ${milliseconds}; expected a number of milliseconds`);
}

/** The parameters of a call, from the options of this module. */
function toWire({ rate, ...options }) {
  const parameters = Object.entries(options).map(([name, value]) => {
    if (value == null) return [name, undefined];
    if (durations.has(name)) return [`${name}USec`, microseconds(name, value)];
    if (name !== "deadline") return [name, value];
    if (value instanceof Date && !Number.isNaN(value.getTime())) return ["deadlineUSec", value.getTime() * 1000];
    throw new RangeError(`deadline is ${value}; expected a valid Date`);
  });
  return { ...(rate == null ? {} : rateToWire(rate, options)), ...Object.fromEntries(parameters) };
}

/** Those of a Start. */
function startToWire(options) {
  return { ...toWire(options), ifRunning: options.rate == null ? options.ifRunning : options.ifRunning ?? "extend" };
}

function rateToWire(rate, options) {
  const taken = ["duration", "deadline", "upTo"].find((name) => options[name] != null);
  if (taken) throw new RangeError(`rate and ${taken} are given; expected one of them`);
  const { interval, upTo } = parseRate(rate);
  return { durationUSec: interval, upToUSec: upTo };
}

// Errors

export class CountdowndError extends Error {
  /** The name of the class as a constant: ALREADY_RUNNING. */
  get code() { return constant(this.name); }
}

const constant = (name) => name.replace(/(?!^)[A-Z]/g, "_$&").toUpperCase();

export class AddressError extends CountdowndError {}

export class Disconnected extends CountdowndError {}

export class NoDaemon extends Disconnected {
  constructor(path, cause) {
    super(`no daemon at ${path}: ${cause.code}`, { cause });
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

export class InvalidCall extends CountdowndError {}

export class CallTooLong extends InvalidCall {}

/** The parameters of errors that name no countdown, and so may stand in a log. */
const shownParameters = ["limit", "maximum", "reason", "parameter", "method", "oldestRevision", "retryAfterUSec"];

export class CallError extends CountdowndError {
  /** Whether a reply has the parameters of the error. */
  static isComplete = isObject;

  constructor(errorName, parameters) {
    const shown = shownParameters.filter((name) => name in parameters).map((name) => `${name} ${parameters[name]}`);
    super(`the daemon refused the call: ${lastPart(errorName)}${shown.length > 0 ? ` (${shown.join(", ")})` : ""}`);
    this.errorName = errorName;
    // Not enumerable, because console.log shows those of an error, and a key may be a telephone number.
    Object.defineProperty(this, "parameters", { value: parameters });
  }

  get code() { return constant(lastPart(this.errorName)); }
}

const lastPart = (errorName) => errorName.split(".").pop();

export class NoSuchCountdown extends CallError {
  static isComplete = hasMembers({ key: isString });
  get key() { return this.parameters.key; }
}

class ErrorWithCountdown extends CallError {
  static isComplete = hasCountdown;
  get key() { return this.parameters.countdown.key; }
  get countdown() { return fromWire(this.parameters.countdown); }
}

export class AlreadyRunning extends ErrorWithCountdown {
  static isComplete = hasMembers({ countdown: isCountdown, retryAfterUSec: isOptional(isInteger) });
  get retryAfter() { return fromWire(this.parameters).retryAfter; }
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

/** What an older daemon answers to a call that it does not know. */
const needsNewerDaemon = "; this needs a newer countdownd; restart it after the upgrade";

export class MethodNotFound extends CallError {
  static isComplete = hasMembers({ method: isString });
  constructor(errorName, parameters) {
    super(errorName, parameters);
    this.message += needsNewerDaemon;
  }
  get method() { return this.parameters.method; }
}

export class PermissionDenied extends CallError {}

// The names are written out in objects, because a minifier renames classes.
const errorsOfCountdownd = {
  NoSuchCountdown, AlreadyRunning, RevisionMismatch, WrongState, HistoryTrimmed, LimitReached, StorageFailed, Unreachable,
};
const errorsOfVarlink = { InvalidParameter, MethodNotFound, PermissionDenied };
const otherErrors = {
  CountdowndError, AddressError, Disconnected, NoDaemon, TimedOut, ProtocolError, InvalidCall, CallTooLong, CallError,
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
  const path = pathOf(given ?? defaultPath());
  if (path === "") throw new AddressError("the path of the socket is empty");
  const length = Buffer.byteLength(path);
  if (length > pathLimit) {
    throw new AddressError(`${path} has ${length} bytes, and the path of a socket has at most ${pathLimit}`);
  }
  return path;
}

/** The path of an address, also of one as varlinkctl writes it: unix:PATH, perhaps with parameters. */
function pathOf(address) {
  return /^unix:([^;]*)/.exec(address)?.[1] ?? address;
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

/** The daemon ends a connection with a call that is longer than this in bytes, or has more levels. */
const callLimit = 256 << 10;
const levelLimit = 64;

/**
 * The message of a call. What the daemon would not read as one call is refused, because the daemon ends a connection with such
 * a message, and other calls share it.
 */
function encodeCall(method, parameters, more) {
  const levels = new Map(); // of the objects around a value
  const members = JSON.stringify(parameters, function check(name, value) {
    const number = value instanceof Number ? Number(value) : value;
    // JSON has null for NaN and Infinity, which the daemon takes for a parameter that is left out, and nothing for a BigInt.
    if (typeof number === "bigint" || (typeof number === "number" && !Number.isSafeInteger(number))) {
      throw new RangeError(`${name} is ${number}; expected a safe integer`);
    }
    if (typeof value !== "object" || value === null) return value;
    levels.set(value, (levels.get(this) ?? 1) + 1);
    if (levels.get(value) > levelLimit) throw new InvalidCall(`a parameter is nested too deeply; expected at most ${levelLimit} levels`);
    return value;
  }) ?? "null";
  if (!/^[{n]/.test(members)) throw new InvalidCall("the parameters are no object; expected one");
  const call = `{"method":${JSON.stringify(`io.countdownd.${method}`)},"parameters":${members}${more ? ',"more":true' : ""}}`;
  const length = Buffer.byteLength(call);
  if (length > callLimit) throw new CallTooLong(`the call has ${length} bytes; the daemon accepts at most ${callLimit}`);
  if (hasHalfPair(call)) throw new InvalidCall("a text has half of a surrogate pair; expected whole characters");
  return `${call}\0`;
}

/** Whether a string has half of a surrogate pair, as a text that was cut has. In JSON it is escaped; a whole pair may be, too. */
function hasHalfPair(json) {
  if (!/\\u[dD][89a-fA-F]/.test(json)) return false;
  const character = (_, code) => (code ? String.fromCharCode(Number.parseInt(code, 16)) : " ");
  return /\p{Surrogate}/u.test(json.replace(/\\(?:u([0-9a-fA-F]{4})|.)/g, character));
}

/** Whether the reply may take any time, so that no other call may be behind it. */
function mayWait(call) {
  if (!/Wait"|"ifRunning"/.test(call)) return false;
  const { method, parameters } = JSON.parse(call.slice(0, -1));
  return method === "io.countdownd.Wait" || parameters?.ifRunning === "wait";
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

/** What is to be done if a signal is aborted. It has one listener for all, because node warns of more than ten. */
const plans = new WeakMap();

/** Calls the function if the signal is aborted, once. Returns a function that takes this back. */
function onAbort(signal, act) {
  if (signal?.aborted) act();
  if (!signal || signal.aborted) return () => {};
  if (!plans.has(signal)) {
    const acts = new Set();
    const all = () => { for (const each of acts) each(); };
    plans.set(signal, { acts, all });
    signal.addEventListener("abort", all);
  }
  const { acts, all } = plans.get(signal);
  acts.add(act);
  return () => {
    if (!acts.delete(act) || acts.size > 0) return;
    signal.removeEventListener("abort", all);
    plans.delete(signal);
  };
}

/** Waits. Rejects with the reason of the signal if it is aborted. */
async function pause(milliseconds, signal) {
  await new Promise((resolve) => {
    const timer = setTimeout(() => { forget(); resolve(); }, milliseconds);
    const forget = onAbort(signal, () => { clearTimeout(timer); resolve(); });
  });
  signal?.throwIfAborted();
}

/** Resolves with a connected socket. A timeout of 0 is none; with a signal, the attempts can be given up. */
async function connect(path, { timeout = 0, signal }) {
  const end = timeout > 0 ? performance.now() + timeout : Infinity;
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      return await connectOnce(path);
    } catch (error) {
      // The daemon's queue of new connections is full.
      if (error.code !== "EAGAIN" || performance.now() + backoff(attempt) > end) throw new NoDaemon(path, error);
    }
    await pause(backoff(attempt), signal);
  }
}

function connectOnce(path) {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ path });
    socket.once("error", reject);
    socket.once("connect", () => resolve(socket));
    // What fails later is thrown by the calls.
    socket.on("error", () => {});
  });
}

const failed = (cause) => new Disconnected(`the connection to the daemon failed: ${cause.code}`, { cause });
const closed = () => new Disconnected("the daemon closed the connection");

/** Cuts received bytes into messages. */
class Framer {
  #parts = [];
  #length = 0;

  /** The messages that are complete with this chunk. */
  add(chunk) {
    const messages = [];
    let start = 0;
    for (let end; (end = chunk.indexOf(0, start)) >= 0; start = end + 1) {
      messages.push(Buffer.concat([...this.#parts, chunk.subarray(start, end)]).toString());
      this.#parts = [];
      this.#length = 0;
    }
    if (start === chunk.length) return messages;
    this.#parts.push(chunk.subarray(start));
    this.#length += chunk.length - start;
    if (this.#length > messageLimit) throw new ProtocolError(`a message has more than ${messageLimit} bytes`);
    return messages;
  }
}

/**
 * A connection that is kept for many calls. They are sent at once, and answered in their order. It does not keep the process
 * alive while no call is under way.
 */
class KeptConnection {
  #socket;
  #timeout;
  #timer;
  #framer = new Framer();
  /** The calls without a reply, in their order. */
  #calls = [];
  #hasAnswered = false;
  /** Why it ended. */
  #error;
  /** Whether a call that was not written may be made on another connection, because it was not this client that ended this one. */
  #mayRetry = false;

  constructor(socket, timeout, onClose) {
    this.#socket = socket;
    this.#timeout = timeout;
    socket.on("data", (chunk) => this.#receive(chunk));
    let cause;
    socket.on("error", (error) => { cause = error; });
    socket.on("close", () => {
      this.#mayRetry = this.#hasAnswered && !this.#error;
      this.#error ??= cause ? failed(cause) : closed();
      onClose();
      this.#rest();
      for (const call of this.#calls.splice(0)) call.reject(this.#failure(call));
    });
  }

  /** The parameters of the reply. If the signal is aborted, the reply is dropped when it comes. */
  ask(text, signal) {
    return new Promise((resolve, reject) => {
      const call = { isWritten: false };
      if (this.#error) return reject(this.#failure(call));
      const forget = onAbort(signal, () => reject(signal.reason));
      const settle = (how) => (value) => { forget(); how(value); };
      this.#calls.push(Object.assign(call, { resolve: settle(resolve), reject: settle(reject) }));
      if (this.#calls.length === 1) this.#begin();
      this.#write(text, call);
    });
  }

  close(error = new Disconnected("the client was closed")) {
    this.#error ??= error;
    this.#socket.destroy();
  }

  /** Sends the calls of one turn of the event loop together. */
  #write(text, call) {
    if (this.#socket.writableCorked === 0) {
      this.#socket.cork();
      process.nextTick(() => this.#socket.uncork());
    }
    this.#socket.write(text, (error) => { call.isWritten = !error; });
  }

  #failure(call) {
    return this.#mayRetry && !call.isWritten ? unsent : this.#error;
  }

  #begin() {
    this.#socket.ref();
    if (this.#timeout > 0) this.#timer = setTimeout(() => this.#endIfSilent(), this.#timeout);
  }

  #rest() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#socket.unref();
  }

  /** If the program kept the event loop busy, a reply may have come and was not read yet. */
  #endIfSilent() {
    const { bytesRead } = this.#socket;
    setImmediate(() => {
      if (this.#socket.bytesRead === bytesRead) this.close(new TimedOut(this.#timeout));
    });
  }

  #receive(chunk) {
    try {
      for (const message of this.#framer.add(chunk)) this.#answer(message);
    } catch (error) {
      this.close(error);
    }
    if (this.#calls.length === 0) this.#rest();
    else this.#timer?.refresh();
  }

  #answer(message) {
    const call = this.#calls.shift();
    if (!call) throw new ProtocolError();
    this.#hasAnswered = true;
    try {
      call.resolve(decodeReply(message, false).parameters);
    } catch (error) {
      call.reject(error);
      if (!(error instanceof CallError)) throw error;
    }
  }
}

const unsent = new Disconnected("the daemon closed the connection before the call");

/** A connection for one call: one that waits, because calls behind it would wait too, or one with many replies. */
class Connection {
  /** Resolves with a connection whose call was sent. */
  static async open(path, call, { more, timeout = 0, signal }) {
    const socket = await connect(path, { timeout, signal });
    socket.write(call);
    return new Connection(socket, { more, timeout, signal });
  }

  #socket;
  #chunks;
  #more;
  #signal;
  #framer = new Framer();
  #messages = [];
  #hasEnded = false;

  constructor(socket, { more, timeout, signal }) {
    this.#socket = socket;
    this.#more = more;
    this.#signal = signal;
    socket.once("close", onAbort(signal, () => socket.destroy(new Error("the call was given up"))));
    socket.setTimeout(timeout, () => this.#endIfSilent(timeout));
    // The event comes for data, and for the end. Until an end is read, the socket does not tell it.
    socket.on("readable", () => { this.#hasEnded ||= socket.readableLength === 0; });
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

  /** Whether a part of the next reply is there, or the end of the connection. */
  get hasReceived() {
    return this.#messages.length > 0 || this.#socket.readableLength > 0 || this.#hasEnded || this.#socket.destroyed;
  }

  async reply() {
    while (this.#messages.length === 0) this.#messages.push(...this.#framer.add(await this.#chunk()));
    return decodeReply(this.#messages.shift(), this.#more);
  }

  async #chunk() {
    let chunk;
    try {
      chunk = await this.#chunks.next();
    } catch (cause) {
      this.#signal?.throwIfAborted();
      if (cause instanceof TimedOut) throw cause;
      throw failed(cause);
    }
    if (chunk.done) throw closed();
    return chunk.value;
  }

  close() {
    this.#socket.destroy();
  }
}

// Calls

/** All replies of a call with its own connection. */
async function repliesOf(path, call, options) {
  const connection = await Connection.open(path, call, options);
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

/** The countdowns of all pages of List. */
async function listed(path, parameters, options) {
  const pages = await repliesOf(path, encodeCall("List", parameters, true), { ...options, more: true });
  return fromWire(pages.flatMap((page) => checked(page, isPage).countdowns));
}

/** Names the key in the errors of a promise. Not enumerable, because console.log shows those of an error. */
async function about(key, promise) {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof CountdowndError && error.key === undefined) Object.defineProperty(error, "key", { value: key });
    throw error;
  }
}

export class Client {
  #given;
  #path;
  /** In milliseconds; 0 is none, also beyond the longest that a timer can have. */
  #timeout;
  /** A promise of the connection for calls that do not wait. */
  #kept;

  constructor({ path, timeout = 5000 } = {}) {
    if (!(timeout > 0)) throw new RangeError(`timeout is ${timeout}; expected a positive number, or Infinity`);
    this.#timeout = timeout < 2 ** 31 ? timeout : 0;
    this.#given = path;
  }

  // Not in the constructor, so that a module can make a client though the daemon has no place yet.
  get path() { return (this.#path ??= socketPath(this.#given)); }

  async call(method, parameters = {}, { signal } = {}) {
    const text = encodeCall(method, parameters);
    if (mayWait(text)) return (await repliesOf(this.path, text, { signal }))[0];
    for (;;) {
      signal?.throwIfAborted();
      const kept = await (this.#kept ??= this.#connect());
      signal?.throwIfAborted();
      try {
        return await kept.ask(text, signal);
      } catch (error) {
        if (error !== unsent) throw error;
      }
    }
  }

  async start(key, { signal, ...options } = {}) {
    return this.#start({ ...startToWire(options), key }, signal);
  }

  async startAll(cooldowns, { dryRun, signal } = {}) {
    const call = this.call("StartAll", { cooldowns: cooldowns.map(toWire), dryRun }, { signal });
    const reply = checked(await call, hasRooms);
    if (reply.rooms.length !== cooldowns.length) throw new ProtocolError();
    return fromWire(reply);
  }

  async list({ signal, ...parameters } = {}) {
    return listed(this.path, parameters, { timeout: this.#timeout, signal });
  }

  async status({ signal } = {}) {
    const reply = checked(await this.call("GetStatus", {}, { signal }), isStatus);
    return { ...fromWire(reply), limits: reply.limits, counters: reply.counters };
  }

  get(key, options) { return this.#countdown("Get", key, options); }
  cancel(key, options) { return this.#countdown("Cancel", key, options); }
  finish(key, options) { return this.#countdown("Finish", key, options); }
  pause(key, options) { return this.#countdown("Pause", key, options); }
  resume(key, options) { return this.#countdown("Resume", key, options); }
  adjust(key, options) { return this.#countdown("Adjust", key, options); }

  async wait(key, { signal, missingOk = false } = {}) {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#countdown("Wait", key, { signal });
      } catch (error) {
        if (missingOk && error instanceof NoSuchCountdown) return undefined;
        const isAbsent = error instanceof NoDaemon || error instanceof StorageFailed;
        if (isAbsent ? attempt === 0 : !(error instanceof Disconnected)) throw error;
      }
      await pause(backoff(attempt), signal);
    }
  }

  watch(options = {}) {
    return new Watch(this.path, this.#timeout, options);
  }

  follow(key, { signal, tick, missingOk = false, ...options } = {}) {
    const hasLength = ["duration", "deadline", "rate"].some((name) => options[name] != null);
    if (!hasLength && Object.values(options).some((value) => value != null)) {
      throw new TypeError("there is no duration, deadline or rate; expected one of them beside other options of start");
    }
    const missing = missingOk ? undefined : () => new NoSuchCountdown("io.countdownd.NoSuchCountdown", { key });
    const following = new Following(hasLength ? { ...startToWire(options), key } : undefined, { missing });
    const watch = this.watch({ keys: [key], tick, signal });
    return new Follow(following.acts(), watch, (...call) => this.#start(...call), signal);
  }

  close() {
    this.#kept?.then((kept) => kept.close(), () => {});
  }

  async #countdown(method, key, { signal, ...options } = {}) {
    const reply = await about(key, this.call(method, { ...toWire(options), key }, { signal }));
    return fromWire(checked(reply, hasCountdown).countdown);
  }

  async #start(parameters, signal) {
    const reply = await about(parameters.key, this.call("Start", parameters, { signal })).catch((error) => {
      // A value that the daemon does not know.
      if (parameters.ifRunning === "later" && error.parameter === "ifRunning") error.message += needsNewerDaemon;
      throw error;
    });
    return fromWire(checked(reply, isStarted));
  }

  #connect() {
    const forget = () => { if (this.#kept === opening) this.#kept = undefined; };
    const opening = connect(this.path, { timeout: this.#timeout })
      .then((socket) => new KeptConnection(socket, this.#timeout, forget));
    opening.catch(forget);
    return opening;
  }
}

// Watching

const hour = 3_600_000;

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
  /** The keys that were reported as running or paused. */
  #live = new Set();
  /** Those of them that were not reported again since the daemon was lost. */
  #unconfirmed = new Set();
  /** The countdowns that were listed since then. */
  listed = [];

  constructor(options) {
    this.#options = toWire({ ...options, heartbeat: options.heartbeat ?? hour });
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

  /** The parameters of a List to make before the next event, which is synced; undefined if there is none. */
  get question() {
    const mustAsk = this.#unconfirmed.size > 0 && !this.#isOpening && this.#events[0]?.type === "synced";
    return mustAsk ? { match: this.#options.match, keys: this.#options.keys } : undefined;
  }

  /** Takes in the countdowns of the list, after the events that came before them were received. */
  answer(countdowns) {
    this.listed = countdowns;
    for (const { key } of [...countdowns, ...this.#events]) this.#unconfirmed.delete(key);
    this.#forget();
  }

  #forget() {
    const keys = [...this.#unconfirmed].sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
    this.#unconfirmed.clear();
    this.#events = [...keys.map((key) => ({ type: "forgotten", key })), ...this.#events];
  }

  receive(reply) {
    this.#hasBegun = true;
    this.#events.push(...fromWire(checked(reply, hasEvents).events));
  }

  /** The next event to deliver; undefined if there is none, or if the question has to be answered before. */
  next() {
    if (this.#isOpening && this.#events[0]?.type === "synced") this.#forget(); // every countdown was reported
    if (this.question) return undefined;
    const event = this.#events.shift();
    if (event?.key !== undefined) this.#note(event);
    if (event?.type === "synced") {
      this.#isOpening = false;
      this.#attempts = undefined;
      this.#trims = 0;
    }
    // Before synced, changes may arrive earlier than countdowns with lower revisions.
    if (event?.revision != null && !this.#isOpening) this.since = Math.max(this.since ?? 0, event.revision);
    return event;
  }

  #note({ type, key, countdown }) {
    this.#unconfirmed.delete(key);
    if (type === "forgotten" || ["finished", "cancelled"].includes(countdown?.state)) this.#live.delete(key);
    else if (countdown) this.#live.add(key);
  }

  /** Notes that the watch has ended. Throws the error if another attempt would fail in the same way. */
  fail(error) {
    this.#unconfirmed = new Set(this.#live);
    this.listed = [];
    this.#events = []; // the next connection reports them again
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
    if (error instanceof NoDaemon) return this.#hasBegun || !["EACCES", "EPERM"].includes(error.cause.code);
    if (error instanceof LimitReached) return !error.limit.startsWith("pattern");
    return [Disconnected, StorageFailed, Unreachable].some((kind) => error instanceof kind);
  }
}

/** One value is waited for after the other, though next() may be called meanwhile. */
class Sequence {
  #turn = Promise.resolve();

  [Symbol.asyncIterator]() { return this; }

  next() {
    const result = this.#turn.then(() => this.nextResult());
    this.#turn = result.catch(() => {});
    return result;
  }

  async [asyncDispose]() {
    await this.return();
  }
}

class Watch extends Sequence {
  #path;
  #timeout;
  #state;
  #connection;
  #signal;
  #forget;
  #closed = new AbortController();

  constructor(path, timeout, { signal, ...parameters }) {
    super();
    this.#path = path;
    this.#timeout = timeout;
    this.#state = new ResumableWatch(parameters);
    this.#signal = signal;
    this.#forget = onAbort(signal, () => this.#close());
  }

  get since() { return this.#state.since; }

  async return() {
    this.#signal = undefined;
    this.#close();
    return { done: true, value: undefined };
  }

  async nextResult() {
    this.#signal?.throwIfAborted();
    while (!this.#closed.signal.aborted) {
      const value = this.#state.next();
      if (value) return { done: false, value };
      try {
        await this.#receive();
      } catch (error) {
        if (this.#closed.signal.aborted) break;
        this.resume(error);
      }
    }
    this.#signal?.throwIfAborted();
    return this.return();
  }

  /** The countdown that had to be listed because it was not reported again, of a watch of one key. */
  get listed() { return this.#state.listed[0]; }

  /** Begins again, as if the connection had failed in this way. */
  resume(error) {
    this.#disconnect();
    this.#state.fail(error);
  }

  async #receive() {
    if (!this.#connection) {
      const { signal } = this.#closed;
      await pause(this.#state.delay(), signal);
      const call = encodeCall("Watch", this.#state.request, true);
      this.#connection = await Connection.open(this.#path, call, { more: true, signal });
    }
    const { question } = this.#state;
    if (!question) return this.#read();
    const countdowns = await listed(this.#path, question, { timeout: this.#timeout, signal: this.#closed.signal });
    // What the daemon sent before the list has arrived then. If it has gone, the list may be of the next daemon.
    await new Promise(setImmediate);
    while (this.#connection.hasReceived) await this.#read();
    return this.#state.answer(countdowns);
  }

  async #read() {
    const { parameters, continues } = await this.#connection.reply();
    this.#state.receive(parameters);
    if (!continues) throw new Disconnected("the daemon ended the watch");
  }

  #close() {
    this.#closed.abort();
    this.#forget?.();
    this.#disconnect();
  }

  #disconnect() {
    this.#connection?.close();
    this.#connection = undefined;
  }
}

/** Why a Follow ends of which the program wants no more steps. */
const left = Symbol("left");

/** The steps of one countdown: carries out the acts of a Following. */
class Follow extends Sequence {
  #acts;
  #watch;
  #start;
  #forget;
  #closed = new AbortController();

  constructor(acts, watch, start, signal) {
    super();
    this.#acts = acts;
    this.#watch = watch;
    this.#start = start;
    this.#forget = onAbort(signal, () => this.#closed.abort(signal.reason));
  }

  async return() {
    this.#forget();
    this.#closed.abort(left);
    this.#acts.return();
    return this.#watch.return();
  }

  async nextResult() {
    try {
      for (let result; ; ) {
        const { done, value: act } = this.#acts.next(result);
        if (done) return this.return();
        if (act.step) return { done, value: act.step };
        result = await this.#carryOut(act);
      }
    } catch (error) {
      const end = await this.return();
      if (error === left) return end;
      throw error;
    }
  }

  async #carryOut({ start, pause: delay, resume }) {
    if (resume) return this.#watch.resume(resume);
    const { signal } = this.#closed;
    if (!start) {
      const { value: event } = await this.#watch.next();
      signal.throwIfAborted();
      return { event, listed: this.#watch.listed };
    }
    await pause(delay, signal);
    return this.#start(start, signal).catch((error) => {
      signal.throwIfAborted();
      return error;
    });
  }
}
