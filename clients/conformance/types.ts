// Compiled and never run: the types of the client for node, as a program uses them.

import { AlreadyRunning, Client, Countdown, Event, HistoryTrimmed, TimedOut, Watch } from "../node/countdownd.js";

export async function use(client: Client = new Client()): Promise<number | undefined> {
  const { outcome, countdown } = await client.start("tea", { durationUSec: 1_000_000, ifRunning: "fail" });
  const found: Countdown[] = [countdown, await client.get("tea"), await client.wait("tea"), await client.cancel("tea")];
  found.push(...(await client.list({ match: ["t*"], states: ["finished"], soonest: 3 })));
  const watch: Watch = client.watch({ keys: ["tea"], tickUSec: 0, since: found[0]?.revision });
  try {
    for await (const event of watch) {
      const { type, key, remainingUSec = 0 }: Event = event;
      if (event.error instanceof HistoryTrimmed) return event.error.oldestRevision;
      if (type === "finished" && key === "tea") return remainingUSec;
    }
  } catch (error) {
    if (error instanceof TimedOut) return (await client.get("tea", { signal: new AbortController().signal })).revision;
    if (error instanceof AlreadyRunning) return error.retryAfterUSec ?? error.countdown.remainingUSec;
    throw error;
  }
  // @ts-expect-error: an outcome has four values.
  if (outcome === "forgotten") return undefined;
  // @ts-expect-error: a state is one of four.
  await client.list({ states: ["boiling"] });
  await watch[Symbol.asyncDispose]();
  await new Client("/run/socket", { timeoutUSec: Infinity }).list({ signal: new AbortController().signal });
  return watch.since;
}
