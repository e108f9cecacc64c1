import type { ToolCallRequest } from "@reeve/contracts/tool";
import type { WorkQueue } from "@reeve/log/work-queue";
import type { ToolhostPorts } from "../ports/toolhost-ports.ts";
import { executeCall } from "./execute-call.ts";

export interface WorkSignals {
  /** Aborts when no more calls are to be taken. */
  readonly taking: AbortSignal;
  /** Aborts when running calls are to be ended and given back. */
  readonly running: AbortSignal;
}

/** Executes calls from the queue, at most `concurrency` at a time, until it may take no more and none is running. */
export async function workCalls(
  queue: Pick<WorkQueue<ToolCallRequest>, "take">,
  ports: ToolhostPorts,
  concurrency: number,
  { taking, running }: WorkSignals,
): Promise<void> {
  // A message is redelivered to ourselves when this process was paused for long: the call still runs, nothing is lost.
  const underWay = new Map<number, Promise<void>>();
  try {
    for await (const delivery of queue.take(concurrency, taking)) {
      if (underWay.has(delivery.sequence)) {
        delivery.forget();
        continue;
      }
      const executing = executeCall(delivery, ports, running).finally(() =>
        underWay.delete(delivery.sequence),
      );
      underWay.set(delivery.sequence, executing);
    }
  } catch (error) {
    if (!taking.aborted) throw error;
  } finally {
    await Promise.allSettled(underWay.values());
  }
}
