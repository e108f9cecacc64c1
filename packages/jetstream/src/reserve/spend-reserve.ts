import type { NatsConnection } from "@nats-io/transport-node";
import { delayAfter } from "@reeve/platform/async/retry/backoff";
import { sleep } from "@reeve/platform/async/sleep";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { requestClientOf } from "@reeve/platform/nats/request-client";
import { counter } from "@reeve/platform/telemetry/metrics";
import type { ApiError } from "../streams/errors.ts";
import { isStoreFull, storeFailure, storeFull } from "../streams/errors.ts";
import { reserveContent } from "./reserve-content.ts";
import { reserveFreed, reserveState, reserveStream } from "./reserve-state.ts";

const uses = counter({
  name: "reeve_store_reserve_uses_total",
  help: "Writes for which the store had no room, and which took room from the reserve of the store.",
});

const keptFor = "its reserve is kept for cancellations, decisions, and deletions of a limited size";
/**
 * How many times a write is repeated after the reserve was freed: other writers may take the room first, every server that keeps the
 * reserve frees it, and the servers of a cluster exchange how much of an account is in use only every one or two seconds.
 */
const maxRepeats = 8;
const repeats = { firstDelayMs: 50, maxDelayMs: 1_000 };
/**
 * How long after a write that found the reserve used up others are not repeated unless it has content again: repetitions would only
 * delay what writes one after another, and each purge costs the servers of a cluster a proposal.
 */
const usedUpMs = 30_000;

/**
 * Performs a write, and again while the store is full, after it has freed the reserve of the store. While the reserve is known to
 * be used up, performs it once. Returns the outcome of the last attempt. `errorOf` returns why an outcome is a refusal.
 */
export async function writeWithReserve<Outcome>(
  connection: NatsConnection,
  write: () => Promise<Outcome>,
  errorOf: (outcome: Outcome) => unknown,
): Promise<Outcome> {
  const state = reserveState(connection);
  let outcome = await write();
  for (let repeat = 0; isStoreFull(errorOf(outcome)); repeat++) {
    const wasUsedUp = performance.now() < state.usedUpAtMs + usedUpMs;
    if (wasUsedUp && !(await hasContent(connection))) break;
    if (repeat === maxRepeats) {
      state.usedUpAtMs = performance.now();
      break;
    }
    if (!(await freeReserve(connection))) break;
    if (repeat > 0) await sleep(delayAfter(repeat, repeats), neverAborts);
    outcome = await write();
  }
  return outcome;
}

/** As `writeWithReserve`, for a write that throws its refusal. */
export async function callWithReserve<Result>(
  connection: NatsConnection,
  write: () => Promise<Result>,
): Promise<Result> {
  const settle = () =>
    write().then(
      (result) => ({ result }),
      (error: unknown) => ({ error }),
    );
  const settled = await writeWithReserve(connection, settle, (outcome) =>
    "error" in outcome ? outcome.error : undefined,
  );
  if ("error" in settled) throw settled.error;
  return settled.result;
}

/**
 * Returns the refusal of a write that may not use the reserve, while the reserve is in use: what is left of it is kept for others.
 * Undefined: the write may be tried.
 */
export function refusedForReserve(connection: NatsConnection): ApiError | undefined {
  return reserveState(connection).isSpent ? { ...storeFull, description: keptFor } : undefined;
}

/** Throws a Failure with the reason STORAGE_FULL while the reserve is in use. */
export function assertRoomBesideReserve(connection: NatsConnection): void {
  const refused = refusedForReserve(connection);
  if (refused !== undefined) throw storeFailure(refused);
}

async function hasContent(connection: NatsConnection): Promise<boolean> {
  const content = await reserveContent(connection);
  return content !== undefined && content.messages > 0;
}

/** Removes the content of the reserve, and announces that. Returns false if there is no reserve. */
async function freeReserve(connection: NatsConnection): Promise<boolean> {
  // Announced before, so that others leave the room alone, and after, so that a gateway that has looked already looks again.
  announce(connection);
  const purge = `$JS.API.STREAM.PURGE.${reserveStream}`;
  const reply = await requestClientOf(connection).send(purge, {});
  if (reply === undefined) return false;
  const { success = false } = reply.json<{ readonly success?: boolean }>();
  if (!success) return false;
  uses.inc();
  announce(connection);
  return true;
}

function announce(connection: NatsConnection): void {
  if (!connection.isClosed()) connection.publish(reserveFreed);
}
