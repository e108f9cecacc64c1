import type { RunEvent } from "@reeve/contracts/run";
import { expect } from "vitest";
import { RetryingClient } from "../../system/support/retrying-client.ts";
import { expectCompleted } from "../../system/support/watching.ts";
import type { Containers } from "./containers.ts";

/** The number of clients. Each has one run at a time. */
const clients = 4;
let loads = 0;

export interface Load {
  /** Resolves at the next event of any run, which shows that runs are active. */
  next(): Promise<void>;
}

/**
 * Lets clients start runs of an agent, one after another, until `during` has finished, and checks that they notice nothing.
 * Returns the events of each run.
 */
export async function expectUnnoticed(
  containers: Containers,
  agentId: string,
  during: (load: Load) => Promise<void>,
): Promise<readonly (readonly RunEvent[])[]> {
  const load = ++loads;
  let happened = Promise.withResolvers<void>();
  const onEvent = () => happened.resolve();
  const working = Array.from({ length: clients }, (_, index) => {
    const name = `load-${load}-client-${index}`;
    return new RetryingClient({ name, agentId, gateways: () => containers.gateways, onEvent });
  });
  const over = new AbortController();
  const isOver = () => over.abort();
  const meanwhile = during({
    next() {
      happened = Promise.withResolvers();
      return happened.promise;
    },
  });
  meanwhile.then(isOver, isOver);
  const [seen] = await Promise.all([
    Promise.all(working.map((client) => client.runsUntil(over.signal))),
    meanwhile,
  ]);
  for (const events of seen.flat()) expectDone(events);
  expect(seen.flat().length).toBeGreaterThanOrEqual(clients);
  return seen.flat();
}

/** Checks that the run completed with no event missing or repeated, and no failed call. */
export function expectDone(events: readonly RunEvent[]): void {
  expectCompleted(events);
  const results = events.flatMap(({ event }) => (event.case === "toolResult" ? event.value : []));
  expect(results.filter(({ success }) => !success)).toEqual([]);
}
