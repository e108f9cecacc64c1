import { setTimeout as wait } from "node:timers/promises";
import { jetstreamManager } from "@nats-io/jetstream";
import type { Cluster } from "./cluster.ts";

const queues = ["DISPATCH", "TOOL_CALLS"];
const patienceMs = 30_000;
const pauseMs = 200;

/** Waits until no work is left in the queues; what is left after a while, in words. */
export async function settled({ nats }: Cluster): Promise<readonly string[]> {
  const givesUpAt = performance.now() + patienceMs;
  for (;;) {
    const left = await remaining(nats).catch((error: unknown) => [String(error)]);
    if (left.length === 0 || performance.now() > givesUpAt) return left;
    await wait(pauseMs);
  }
}

async function remaining({ connection }: Cluster["nats"]): Promise<readonly string[]> {
  const manager = await jetstreamManager(connection);
  const left: string[] = [];
  for (const name of queues) {
    const { state } = await manager.streams.info(name);
    if (state.messages > 0) left.push(`${state.messages} messages are left in ${name}`);
  }
  return left;
}
