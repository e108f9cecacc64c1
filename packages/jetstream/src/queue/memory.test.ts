import type { Dispatch } from "@reeve/contracts/run";
import { queueContract } from "../../test/support/queue-contract.ts";
import { MemoryWorkQueue } from "./memory.ts";

const ackWaitMs = 50;

queueContract("in memory", ackWaitMs / 5, async () => {
  const queue = new MemoryWorkQueue<Dispatch>({ ackWaitMs });
  return [queue, queue];
});
