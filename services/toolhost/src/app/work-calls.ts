import type { ToolCallRequest } from "@reeve/contracts/tool";
import type { WorkQueue } from "@reeve/log/work-queue";
import { executeCall } from "./execute-call.ts";
import type { HostPorts } from "./host-ports.ts";

/**
 * Executes calls from the queue, at most `concurrency` at a time, until `signal` aborts; then ends what is under way after
 * `drain` aborts too, and resolves.
 */
export async function workCalls(
  queue: Pick<WorkQueue<ToolCallRequest>, "take">,
  ports: HostPorts,
  concurrency: number,
  { signal, drain }: { readonly signal: AbortSignal; readonly drain: AbortSignal },
): Promise<void> {
  const running = new Set<Promise<void>>();
  try {
    for await (const delivery of queue.take(concurrency, signal)) {
      const executing = executeCall(delivery, ports, drain).finally(() =>
        running.delete(executing),
      );
      running.add(executing);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await Promise.allSettled(running);
  }
}
