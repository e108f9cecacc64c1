import { create } from "@bufbuild/protobuf";
import type { Projection } from "@reeve/contracts/projection";
import { ProjectionSchema } from "@reeve/contracts/projection";
import { retryUnavailable } from "@reeve/platform/async/retry/retry-unavailable";
import type { Table } from "../table/port.ts";

/**
 * Requests a rebuild of a projection, and yields its state after each change until a rebuild that started after the request
 * has compared every log. A service that maintains the projection performs the rebuild. Throws the signal's reason.
 */
export async function* requestRebuild(
  states: Table<Projection>,
  name: string,
  signal: AbortSignal,
): AsyncIterable<Projection> {
  // A request that is counted twice causes no second rebuild: one that started after both fulfills both.
  const add = () => addRequest(states, name, signal);
  const request = await retryUnavailable(add, { maxElapsedMs: 10_000 }, signal);
  for await (const change of states.watch("", signal)) {
    if (change.kind !== "written" || change.row.key !== name) continue;
    const { record } = change.row;
    yield record;
    if (record.fulfilledRequests >= request) return;
  }
}

/** Returns the number of the request. */
async function addRequest(
  states: Table<Projection>,
  name: string,
  signal: AbortSignal,
): Promise<bigint> {
  for (;;) {
    const row = await states.get(name, signal);
    const before = row?.record ?? create(ProjectionSchema, { name });
    const after = { ...before, requests: before.requests + 1n };
    const written =
      row === undefined
        ? await states.create(name, after, signal)
        : await states.update(name, after, row.revision, signal);
    if (written !== undefined) return after.requests;
  }
}
