import type { ToolDescriptor } from "@reeve/contracts/tool";
import { PermissionClass } from "@reeve/contracts/tool";
import type { Call, Frame } from "./frame.ts";
import { isCleared } from "./gate-call.ts";

/**
 * The calls of a turn that may run now. Parallel-safe ones run together, at most `parallelCalls`; the others, and then the
 * surplus, run one by one in the order of the model. A call that waits for a person holds up only the serial calls behind it.
 */
export function schedule(
  { calls, tools }: Pick<Frame, "calls" | "tools">,
  parallelCalls: number,
): readonly Call[] {
  const isParallel = ({ call }: Call) => {
    const tool = tools.get(call.name);
    return tool !== undefined && (tool.parallelSafe ?? true) && tool.exclusiveLock === "";
  };
  const together = calls.filter(isParallel);
  const abreast = together.slice(0, parallelCalls);
  const queue = [...calls.filter((call) => !isParallel(call)), ...together.slice(parallelCalls)];
  const first = queue.find(({ result }) => result === undefined);
  const serial = first !== undefined && isCleared(first) ? [first] : [];
  return [...abreast.filter(isCleared), ...serial].slice(0, parallelCalls);
}

/** Calls that a toolhost, or something else outside of the run, has to carry out. */
export interface Outgoing {
  readonly frame: Frame;
  readonly call: Call;
  readonly tool: ToolDescriptor;
}

/**
 * Which of `waiting` start now, so that of the whole run at most `parallelCalls` are under way and no lock is held twice.
 * What runs is never put off for something newer.
 */
export function admit(
  running: readonly Outgoing[],
  waiting: readonly Outgoing[],
  parallelCalls: number,
): readonly Outgoing[] {
  const held = new Set(running.map(({ tool }) => tool.exclusiveLock).filter((lock) => lock !== ""));
  const admitted: Outgoing[] = [];
  for (const outgoing of waiting) {
    if (running.length + admitted.length >= parallelCalls) break;
    const lock = outgoing.tool.exclusiveLock;
    if (held.has(lock)) continue;
    if (lock !== "") held.add(lock);
    admitted.push(outgoing);
  }
  return admitted;
}

/** Whether calls of the tool begin subtasks, which take no place among the calls that are under way. */
export function isSubagent({ permissionClass, source }: ToolDescriptor): boolean {
  return permissionClass === PermissionClass.SUBAGENT && source === "runtime";
}
