import type { ToolDescriptor } from "@reeve/contracts/tool";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import { PermissionClass } from "@reeve/contracts/tool";
import type { Call, Frame } from "../state/frame.ts";
import { isCleared } from "./gate-call.ts";

/**
 * The calls of a turn that may run now. Parallel-safe ones run together, at most `parallelCalls`; the others, and then the
 * surplus, run one by one in the order of the model; all of them do where only one may run. A call that waits for a person holds up only the serial calls behind it.
 */
export function scheduleCalls(
  { calls, tools }: Pick<Frame, "calls" | "tools">,
  parallelCalls: number,
): readonly Call[] {
  const isParallel = ({ call }: Call) => {
    const tool = tools.get(call.name);
    return parallelCalls > 1 && tool !== undefined && lockOf(tool) === undefined;
  };
  const placed = calls.filter(takesPlace);
  const together = placed.filter(isParallel);
  const abreast = together.slice(0, parallelCalls);
  const queue = [...placed.filter((call) => !isParallel(call)), ...together.slice(parallelCalls)];
  const first = queue.find(({ result }) => result === undefined);
  const serial = first !== undefined && isCleared(first) ? [first] : [];
  return [...abreast.filter(isCleared), ...serial].slice(0, parallelCalls);
}

/** A call that had its result without ever running kept no other back; nor does the one that ends a subtask after all others. */
function takesPlace({ call, startedAtMs, result }: Call): boolean {
  return call.name !== finishSubtaskName && (startedAtMs !== undefined || result === undefined);
}

/** What a call of the tool holds while it runs. Those that bear no other beside them, and name no lock, share one. */
function lockOf({ exclusiveLock, parallelSafe }: ToolDescriptor): string | undefined {
  return exclusiveLock === "" && (parallelSafe ?? true) ? undefined : exclusiveLock;
}

/** Calls that a toolhost, or something else outside of the run, has to carry out. */
export interface OutgoingCall {
  readonly frame: Frame;
  readonly call: Call;
  readonly tool: ToolDescriptor;
}

/**
 * Which of `waiting` start now, so that of the whole run at most `parallelCalls` are under way and no lock is held twice.
 * What runs is never put off for something newer.
 */
export function admitCalls(
  running: readonly OutgoingCall[],
  waiting: readonly OutgoingCall[],
  parallelCalls: number,
): readonly OutgoingCall[] {
  const held = new Set(running.map(({ tool }) => lockOf(tool)));
  const admitted: OutgoingCall[] = [];
  for (const outgoing of waiting) {
    if (running.length + admitted.length >= parallelCalls) break;
    const lock = lockOf(outgoing.tool);
    if (lock !== undefined && held.has(lock)) continue;
    held.add(lock);
    admitted.push(outgoing);
  }
  return admitted;
}

/** Whether calls of the tool begin subtasks, which take no place among the calls that are under way. */
export function isSubagent({ permissionClass, source }: ToolDescriptor): boolean {
  return permissionClass === PermissionClass.SUBAGENT && source === "runtime";
}
