// Compiled and never run: the types of the client for node, as a program uses them.

import {
  AllStarted, AlreadyRunning, Client, Countdown, CountdownEvent, CountdowndError, HistoryTrimmed, InvalidCall, TimedOut, Watch,
} from "../node/countdownd.js";
import { rateLimit, Relay } from "../node/express.js";
import { Limiter, Refused } from "../node/limiter.js";
import { startDaemon, TestDaemon } from "../node/testing.js";

export async function use(client: Client = new Client()): Promise<number | Date | undefined> {
  const { outcome, countdown } = await client.start("tea", { duration: 1000, ifRunning: "fail" });
  const found: Countdown[] = [countdown, await client.get("tea"), await client.wait("tea"), await client.cancel("tea")];
  found.push(...(await client.list({ match: ["t*"], states: ["finished"], soonest: 3 })));
  found.push(await client.adjust("tea", { by: -5 }), await client.adjust("tea", { deadline: new Date(), ifRevision: 7 }));
  const { rooms }: AllStarted = await client.startAll([{ key: "tea", rate: "5/1h", forget: true }], { dryRun: true });
  const watch: Watch = client.watch({ keys: ["tea"], tick: 0, since: found[0]?.revision });
  try {
    for await (const event of watch) {
      if (event.type === "historyTrimmed" && event.error instanceof HistoryTrimmed) return event.error.oldestRevision;
      if (event.type === "finished" && event.key === "tea") return event.late ?? event.countdown.ended;
      // @ts-expect-error: no event has this type.
      if (event.type === "finnished") return rooms[0]?.more;
      const { key = "", countdown }: CountdownEvent = event;
      if (countdown?.key !== key) break;
    }
  } catch (error) {
    if (error instanceof TimedOut) return (await client.get("tea", { signal: new AbortController().signal })).deadline;
    if (error instanceof AlreadyRunning) return error.retryAfter ?? error.countdown.remaining;
    if (error instanceof CountdowndError && error.code === "LIMIT_REACHED") console.log(error.key);
    throw error;
  }
  // The DOM's Event is not hidden.
  new Event("tea").preventDefault();
  // @ts-expect-error: an outcome has four values.
  if (outcome === "forgotten") return undefined;
  // @ts-expect-error: a state is one of four.
  await client.list({ states: ["boiling"] });
  // @ts-expect-error: a deadline is a Date.
  await client.start("tea", { deadline: 5 });
  // @ts-expect-error: by or deadline.
  await client.adjust("tea", {});
  // @ts-expect-error: the countdown may be missing.
  (await client.wait("tea", { missingOk: true })).state;
  await watch[Symbol.asyncDispose]();
  await new Client({ path: "/run/socket", timeout: Infinity }).list({ signal: new AbortController().signal });
  return watch.since;
}

export async function limit(send: () => Promise<string>): Promise<number | string | undefined> {
  const limiter = new Limiter({ sms: ["1/60s", "5/1h"], ip: "20/1h" }, { onFailure: "closed" });
  // @ts-expect-error: onFailure is required.
  new Limiter({ sms: "1/60s" }, {});
  const { accepted, limits } = await limiter.look({ sms: "138", ip: Promise.resolve("::1") });
  await limiter.take(["138", 7, 7n, null, undefined, ["::1"]]);
  // @ts-expect-error: the text of an object may change.
  await limiter.take(new Date());
  try {
    return accepted ? await limiter.run("138", send, { weight: 2 }) : limits[0]?.left;
  } catch (error) {
    // @ts-expect-error: it is undefined if the countdown is paused, or calls queue.
    if (error instanceof Refused && error.retryAfter / 1000 > 5) return undefined;
    if (error instanceof Refused) return error.retryAfter;
    if (error instanceof InvalidCall) return error.code;
    throw error;
  }
}

export async function follow(client: Client): Promise<number | undefined> {
  for await (const step of client.follow("tea", { duration: 300_000, tick: 0, ifRunning: "restart" })) {
    if (step.type === "finished") return step.late;
    if (step.type === "cancelled") return step.countdown.remaining;
    // @ts-expect-error: nothing may be known of the countdown.
    if (step.type === "away") return step.countdown.remaining;
    // @ts-expect-error: there is no such step.
    if (step.type === "ended") return undefined;
  }
  // @ts-expect-error: the length is in the options.
  client.follow("tea", 300_000);
  return undefined;
}

interface Request { ip: string; body: { phone?: string } }

export const middleware = [
  rateLimit({ limits: { api: "100/1h" }, key: (request) => request.ip, onFailure: "open", headers: null }),
  rateLimit<Request>({
    limits: { phone: { rates: "1/60s", key: ({ body }) => body.phone }, ip: "20/1h" },
    key: ({ ip }) => ip,
    onFailure: "closed",
    refused: (request, response, { retryAfter, error }) => response.json({ retryAfter, unavailable: error !== undefined }),
  }),
  // @ts-expect-error: a boolean tells no visitors apart.
  rateLimit<Request>({ limits: { api: "1/1s" }, key: ({ ip }) => ip === "::1", onFailure: "open" }),
  new Relay({ match: ["login/*"] }).handler<Request>(({ ip }) => ({ button: `login/${ip}` })),
  new Relay().handler<Request>(async ({ ip }) => (ip ? (key) => (key.startsWith(ip) ? key : undefined) : null)),
];

export async function test(): Promise<void> {
  const daemon: TestDaemon = await startDaemon();
  await daemon.client().start("tea");
  await daemon.advance(60_000);
  await daemon.stop();
}
