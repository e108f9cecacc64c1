import type { NatsConnection } from "@nats-io/transport-node";
import { onAbort } from "@reeve/platform/async/on-abort";
import { Wakeup } from "@reeve/platform/async/coordination/wakeup";
import { sleep } from "@reeve/platform/async/sleep";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { reserveContent } from "./reserve-content.ts";
import { keptMs, reserveState, spentSetter, whenFreed } from "./reserve-state.ts";

/** The time after an announcement until the second look, and after a look that showed a whole reserve until the next one. */
const minLookMs = 500;
/** After so long without an announcement, nobody keeps a reserve: gateways repeat it, and two of them may be lost. */
const defaultMaxSilenceMs = 3 * keptMs;
/**
 * The same for a reserve that was freed and has no content yet: all gateways may be restarting, and the rest of the room is kept for
 * others. Bounded, because a deployment may stop keeping a reserve.
 */
const maxAbsenceMs = 10 * 60_000;

interface WatchOptions {
  readonly log: Logger;
  /** The time between two looks while the reserve is in use. Default: 2 s. */
  readonly lookMs?: number;
  /** After how long without an announcement nobody keeps a reserve. Default: 15 s. */
  readonly maxSilenceMs?: number;
}

/**
 * Knows until `signal` aborts whether the reserve of the store is in use, in a process that does not keep it itself. From the first
 * announcement on, what may not use the reserve is refused here. Costs nothing while the store has room.
 */
export async function watchReserve(
  { connection }: { readonly connection: NatsConnection },
  { log, lookMs = 2_000, maxSilenceMs = defaultMaxSilenceMs }: WatchOptions,
  signal: AbortSignal,
): Promise<void> {
  const setSpent = spentSetter(connection, log);
  const freed = new Wakeup();
  let wholeAt = -Infinity;
  using resources = new DisposableStack();
  const listener = () => {
    // Anybody who may use NATS can announce: nobody can stop this process for good.
    if (performance.now() - wholeAt >= minLookMs) setSpent(true);
    freed.notify();
  };
  resources.use(whenFreed(connection, listener));
  resources.use(onAbort(signal, () => setSpent(false)));
  for (;;) {
    await freed.wait(signal);
    await sleep(Math.max(0, wholeAt + minLookMs - performance.now()), signal);
    setSpent(true);
    await untilWhole(connection, freed, { lookMs, maxSilenceMs }, signal);
    wholeAt = performance.now();
    setSpent(false);
  }
}

/**
 * Resolves when a process in which `watchReserve` has just started knows whether the reserve is in use: when the reserve has
 * content, when nobody created it, after an announcement, or when there was none for long.
 */
export async function untilReserveIsKnown(
  { connection }: { readonly connection: NatsConnection },
  signal: AbortSignal,
): Promise<void> {
  for (let waitedMs = 0; waitedMs < defaultMaxSilenceMs; waitedMs += minLookMs) {
    const content = await reserveContent(connection);
    if (content?.messages !== 0 || reserveState(connection).isSpent) return;
    await sleep(minLookMs, signal);
  }
}

/** Resolves when two looks in a row show the same content, or when nobody has announced anything for long. */
async function untilWhole(
  connection: NatsConnection,
  freed: Wakeup,
  { lookMs, maxSilenceMs }: Required<Pick<WatchOptions, "lookMs" | "maxSilenceMs">>,
  signal: AbortSignal,
): Promise<void> {
  let before = await reserveContent(connection);
  let silentMs = 0;
  for (let pauseMs = Math.min(minLookMs, lookMs); ; pauseMs = lookMs) {
    await sleep(pauseMs, signal);
    const now = await reserveContent(connection);
    silentMs = (await freed.waitFor(0, signal)) ? 0 : silentMs + pauseMs;
    // A gateway that fills it changes it between two looks.
    const isWhole = now !== undefined && now.messages > 0 && now.last_seq === before?.last_seq;
    const isFreed = now !== undefined && now.messages === 0 && now.last_seq > 0;
    if (isWhole || silentMs >= (isFreed ? maxAbsenceMs : maxSilenceMs)) return;
    before = now;
  }
}
