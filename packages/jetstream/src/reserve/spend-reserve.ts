import type { NatsConnection } from "@nats-io/transport-node";
import { sleep } from "@reeve/platform/async/sleep";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { requestClientOf } from "@reeve/platform/nats/request-client";
import { counter } from "@reeve/platform/telemetry/metrics";
import { isStoreFull } from "../streams/errors.ts";
import { reserveFreed, reserveStream } from "./reserve-state.ts";

const uses = counter({
  name: "reeve_store_reserve_uses_total",
  help: "Writes for which the store had no room, and which took room from the reserve of the store.",
});

/** How many times a write is repeated after the reserve was freed: other writers may take the room first. */
const maxRepeats = 3;
/** The delay between two repetitions: every server that keeps the reserve frees it. */
const repeatMs = 50;

/**
 * Performs a write, and again while the store is full, after it has freed the reserve of the store. Returns the outcome of the
 * last attempt. `errorOf` returns why an outcome is a refusal.
 */
export async function writeWithReserve<Outcome>(
  connection: NatsConnection,
  write: () => Promise<Outcome>,
  errorOf: (outcome: Outcome) => unknown,
): Promise<Outcome> {
  let outcome = await write();
  for (let repeat = 0; repeat < maxRepeats && isStoreFull(errorOf(outcome)); repeat++) {
    if (!(await freeReserve(connection))) break;
    if (repeat > 0) await sleep(repeatMs * repeat, neverAborts);
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

/** Removes the content of the reserve, and announces that. Returns false if there is no reserve. */
async function freeReserve(connection: NatsConnection): Promise<boolean> {
  const purge = `$JS.API.STREAM.PURGE.${reserveStream}`;
  const reply = await requestClientOf(connection).send(purge, {});
  if (reply === undefined) return false;
  const { success = false } = reply.json<{ readonly success?: boolean }>();
  if (!success) return false;
  uses.inc();
  // The gateways look at the reserve, and then refuse what would use the room.
  if (!connection.isClosed()) connection.publish(reserveFreed);
  return true;
}
