import { ApprovalState } from "@reeve/contracts/approval";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import type { Call } from "./run-state.ts";

/**
 * The calls of a turn that run now. Parallel-safe ones run together, at most `parallelCalls`; the others, and then the
 * surplus, run one by one in the order of the model. A call that waits for a person holds up only the serial calls behind it.
 */
export function schedule(
  calls: readonly Call[],
  tools: ReadonlyMap<string, ToolDescriptor>,
  parallelCalls: number,
): readonly Call[] {
  const isParallel = ({ call }: Call) => {
    const tool = tools.get(call.name);
    return tool !== undefined && (tool.parallelSafe ?? true) && tool.exclusiveLock === "";
  };
  const together = calls.filter(isParallel);
  const abreast = together.slice(0, parallelCalls);
  const queue = [...calls.filter((call) => !isParallel(call)), ...together.slice(parallelCalls)];
  const running = abreast.filter(isRunnable);
  const first = queue.find(({ result }) => result === undefined);
  const serial = first !== undefined && isRunnable(first) ? [first] : [];
  return [...running, ...serial].slice(0, parallelCalls);
}

function isRunnable({ result, approval }: Call): boolean {
  return (
    result === undefined && (approval === undefined || approval.state === ApprovalState.APPROVED)
  );
}
