import type { Dispatch } from "@reeve/contracts/run";
import { fairnessContract } from "../../test/support/fairness-contract.ts";
import { queueContract } from "../../test/support/queue-contract.ts";
import { MemoryWorkQueue } from "./memory.ts";

const ackWaitMs = 50;

const open = async () => {
  const queue = new MemoryWorkQueue<Dispatch>({ ackWaitMs, ownerOf: ({ tenant }) => tenant });
  return [queue, queue] as const;
};

queueContract("in memory", ackWaitMs / 5, open);
fairnessContract("in memory", open);
