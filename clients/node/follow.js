// Following one countdown from its start to its end, without I/O. clients/conformance/follow.json has a row for each state and input.

import { randomBytes } from "node:crypto";

/** The milliseconds to wait before an attempt: none before attempt 0, then 100, doubled each time up to 30 s. */
export function backoff(attempt) {
  return attempt > 0 ? Math.min(100 * 2 ** Math.min(attempt - 1, 20), 30_000) : 0;
}

const isLive = (countdown) => ["running", "paused"].includes(countdown?.state);
const isEnd = (type) => ["finished", "cancelled", "gone"].includes(type);
/** Errors of a start that was not made, or perhaps. After them the watch says what runs. */
const unmade = ["NoDaemon", "StorageFailed", "LimitReached"];
const unknown = ["Disconnected", "TimedOut", "Unreachable"];

/**
 * The acts of following. To { read } its owner returns the next event of the watch of the key and, with synced, the countdown if
 * the watch had to list it. To { start, pause } it returns the reply or the error. At { resume } it ends the connection of the watch,
 * which then resumes. { step } is to be delivered.
 */
export class Following {
  #start;
  #missing; // makes the error; undefined if a key that does not run is the end
  #clock;
  #token; // in the metadata under the name run, to recognize the own start. countdownctl has the same
  #reported; // the last event about the countdown, before one is followed
  #found; // what ran before the first start
  #lost; // when the first start was made that had no answer
  #run; // the followed countdown, as last known
  #revision = 0; // everything up to it is part of #run
  #seen = 0; // the newest revision of the watch
  #isBehind = false; // whether the watch has not reported #run yet
  #hasBegun = false;
  #isSynced = false;
  #isTrimmed = false;
  #isAway = false;

  /** Without the parameters of a start, it follows what runs. */
  constructor(start, { missing, clock = Date.now, token = randomBytes(8).toString("hex") } = {}) {
    this.#start = start;
    this.#missing = missing;
    this.#clock = clock;
    this.#token = start?.metadata?.run ?? token;
  }

  *acts() {
    let step = yield* this.#first();
    while (step) {
      yield { step };
      if (isEnd(step.type)) return;
      do step = this.#take(yield { read: true }); while (!step);
    }
  }

  /** Starts the countdown, or finds it. */
  *#first() {
    const mayAttach = (this.#start?.ifRunning ?? "attach") === "attach";
    for (let starts = 0; ; starts += 1) {
      yield* this.#synced();
      const reported = this.#reported;
      const isOwn = starts > 0 && this.#isOwn(reported?.countdown);
      if (isLive(reported?.countdown)) {
        if (isOwn || mayAttach) return this.#begin(reported.countdown, starts > 0);
        if (starts === 0) this.#found = reported.countdown;
      } else if (reported && (isOwn || (mayAttach && this.#lost !== undefined))) return this.#end(reported.type, reported);
      this.#reported = undefined;
      if (!this.#start && !this.#missing) return undefined;
      if (!this.#start) throw this.#missing();
      if (this.#mayHaveEnded()) return this.#end("gone");
      const made = this.#clock();
      const answer = yield { start: this.#call(), pause: backoff(starts - 1) };
      if (answer.outcome) return this.#begin(answer.countdown, answer.outcome !== "extended");
      if (answer.name === "AlreadyRunning" && this.#isOwn(answer.countdown)) return this.#begin(answer.countdown, true);
      yield { resume: this.#refused(answer, made) };
    }
  }

  /** Reads the watch until it has said what runs. */
  *#synced() {
    for (;;) {
      const { event, listed } = yield { read: true };
      const step = this.#note(event);
      if (step) yield { step };
      const isOwnEnd = isEnd(this.#reported?.type) && this.#isOwn(this.#reported.countdown);
      if (event.type === "forgotten") this.#reported = undefined;
      else if (event.countdown && !isOwnEnd) this.#reported = event;
      if (event.type !== "synced") continue;
      this.#reported ??= listed && { type: "attached", countdown: listed };
      return;
    }
  }

  #call() {
    const { ifRunning, metadata } = this.#start;
    const kept = ["extend", "later"].includes(ifRunning) ? this.#found?.metadata : {}; // these two replace it
    return { ...this.#start, metadata: { ...(metadata ?? kept), run: this.#token } };
  }

  /** The error, if the watch can say what runs. Throws it if it is final. */
  #refused(error, made) {
    const isUnmade = unmade.includes(error.name) && (error.limit ?? "connections").startsWith("connections");
    if (!isUnmade && !unknown.includes(error.name)) throw error;
    // A call that queues is carried out at the last moment, if at all.
    if (!isUnmade) this.#lost ??= this.#start.ifRunning === "wait" ? this.#clock() : made;
    return error;
  }

  /** Whether a start without an answer may have been made, and its countdown have ended so that the watch cannot know it. */
  #mayHaveEnded() {
    const { forget, deadlineUSec, durationUSec = 60_000_000 } = this.#start;
    if (this.#lost === undefined || !(forget || this.#isTrimmed)) return false;
    return this.#clock() >= (deadlineUSec === undefined ? this.#lost + durationUSec / 1000 : deadlineUSec / 1000);
  }

  #isOwn(countdown) { return countdown?.metadata?.run === this.#token; }

  /** Notes how far the watch is; the step if the daemon has gone away. */
  #note(event) {
    const isLost = event.type === "disconnected";
    const isTrimmed = event.type === "historyTrimmed";
    if (isLost && event.error.name === "NoDaemon" && !this.#hasBegun) throw event.error;
    this.#hasBegun = true;
    this.#seen = Math.max(this.#seen, event.revision ?? 0);
    if (event.type === "synced") this.#isSynced = true;
    if (!isLost && !isTrimmed) return undefined;
    this.#isSynced = false;
    if (!isEnd(this.#reported?.type)) this.#reported = undefined; // the next watch says it again
    if (isTrimmed) {
      this.#isTrimmed = this.#isBehind = true;
      this.#revision = 0;
    }
    if (!isLost || this.#isAway) return undefined;
    this.#isAway = true;
    return this.#end("away", event);
  }

  /** The step of an event, once a countdown is followed. */
  #take({ event, listed }) {
    const step = this.#note(event);
    if (step) return step;
    const { type, countdown } = event;
    if (type === "synced") return this.#back(listed);
    if (type === "forgotten") return this.#end("gone");
    if (type === "tick") return this.#isSynced && !this.#isBehind ? this.#step("tick", event.remaining) : undefined;
    if (!countdown) return undefined;
    const change = this.#change(event, countdown);
    if (countdown.revision >= this.#revision) this.#isBehind = false;
    return change;
  }

  /** The watch is synced: the state that it has found, if the daemon was away. */
  #back(listed) {
    let step = this.#isBehind && !listed ? this.#end("gone") : undefined;
    if (listed) step = this.#change({ type: "attached" }, listed);
    const wasAway = this.#isAway;
    this.#isAway = this.#isTrimmed = false;
    return wasAway && !isEnd(step?.type) ? this.#step("attached") : step;
  }

  #change(event, countdown) {
    const { type, revision } = event;
    if (countdown.revision < this.#revision || revision === this.#revision) return undefined; // of a reply or a list
    const isOther = countdown.startedUSec !== this.#run.startedUSec;
    // A run that keeps its end, and has none, was restarted.
    if (isOther && type !== "restarted" && (this.#isTrimmed || this.#run.forget)) return this.#end("gone");
    if (isEnd(type)) return this.#end(type, event);
    this.#know(countdown);
    return this.#isSynced ? this.#step(isOther ? "restarted" : type) : undefined;
  }

  #begin(countdown, isMade) {
    this.#know(countdown);
    this.#isTrimmed = this.#isAway = false;
    const isStarted = isMade && this.#isOwn(countdown) && this.#found?.startedUSec !== countdown.startedUSec;
    return this.#step(isStarted ? "started" : "attached");
  }

  #know(countdown) {
    this.#run = countdown;
    this.#revision = countdown.revision;
    this.#isBehind = this.#seen < this.#revision;
  }

  #step(type, remaining = this.#run.remaining) {
    this.#run = { ...this.#run, remaining };
    return { type, remaining, countdown: this.#run };
  }

  #end(type, { countdown = this.#run, late, error } = {}) {
    const remaining = type === "gone" ? 0 : countdown?.remaining ?? 0;
    return { type, remaining, countdown, ...(late != null && { late }), ...(error && { error }) };
  }
}
