import type { ToolDescriptor } from "@reeve/contracts/tool";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import { buildWorkflowName } from "@reeve/agent/workflow/building/editor-tools";
import { PermissionClass } from "@reeve/contracts/tool";
import type { Call, Frame } from "../state/frame.ts";
import { isCleared } from "./gate-call.ts";

/**
 * Returns the calls of a turn that may run now. At most `parallelCalls` parallel-safe calls run together. All other calls, and
 * then the parallel-safe ones beyond the limit, run one at a time in the order of the model; with a limit of 1, all calls do.
 * A call of a tool that is not parallel-safe runs beside no other call of the turn: it starts after those that may run, and
 * the others wait for it. A call that waits for an approval blocks only the serial calls behind it; once it has one, it takes a slot
 * that calls in progress leave. A call that waits for a person who answers through a client occupies no slot, unless it holds a lock:
 * it may take weeks.
 */
export function scheduleCalls(
  { calls, tools }: Pick<Frame, "calls" | "tools">,
  parallelCalls: number,
): readonly Call[] {
  const isParallel = ({ call }: Call) => {
    const tool = tools.get(call.name);
    return parallelCalls > 1 && tool !== undefined && lockOf(tool) === undefined;
  };
  const isFree = (pending: Call) => {
    const tool = tools.get(pending.call.name);
    return isOpenToPerson(pending) && tool !== undefined && lockOf(tool) === undefined;
  };
  const slotted = calls.filter((call) => occupiesSlot(call) && !isFree(call));
  const parallel = slotted.filter(isParallel);
  const concurrent = parallel.slice(0, parallelCalls);
  const queue = [...slotted.filter((call) => !isParallel(call)), ...parallel.slice(parallelCalls)];
  const first = queue.find(isRunning) ?? queue.find(({ result }) => result === undefined);
  const serial = first !== undefined && isCleared(first) ? [first] : [];
  const running = slotted.filter(isRunning);
  const waiting = [...concurrent.filter(isCleared), ...serial].filter((call) => !isRunning(call));
  const runnable = [...running, ...waiting.slice(0, Math.max(0, parallelCalls - running.length))];
  const isAlone = ({ call }: Call) => tools.get(call.name)?.parallelSafe === false;
  if (running.some(isAlone)) return running;
  const others = runnable.filter((call) => !isAlone(call));
  const isBesideOther = calls.some((call) => isFree(call) && call.result === undefined);
  return others.length > 0 || isBesideOther ? others : runnable;
}

/** Whether the call was handed to its tool, and has no result. */
function isRunning(pending: Call): boolean {
  return pending.startedAtMs !== undefined && isCleared(pending);
}

/** Whether the call was opened to clients, and a person answers it. */
function isOpenToPerson({ clientCall }: Pick<Call, "clientCall">): boolean {
  return clientCall?.isAnsweredByPerson === true;
}

/** Calls that got their result without starting occupy no slot, nor does `finish_subtask`, which runs after all others. */
function occupiesSlot({ call, startedAtMs, result }: Call): boolean {
  return call.name !== finishSubtaskName && (startedAtMs !== undefined || result === undefined);
}

/** Returns the lock of the tool's calls. Tools that are not parallel-safe and name no lock share the lock "". */
function lockOf({ exclusiveLock, parallelSafe }: ToolDescriptor): string | undefined {
  return exclusiveLock === "" && (parallelSafe ?? true) ? undefined : exclusiveLock;
}

/** A call that needs an effect: a toolhost or the runtime executes it. */
export interface OutgoingCall {
  readonly frame: Frame;
  readonly call: Call;
  readonly tool: ToolDescriptor;
}

/**
 * Returns the calls of `waiting` that may start now, so that at most `parallelCalls` calls of the whole run are in progress and
 * no lock is held twice. Calls that wait for a person at a client do not count. Never interrupts a call in progress.
 */
export function admitCalls(
  running: readonly OutgoingCall[],
  waiting: readonly OutgoingCall[],
  parallelCalls: number,
): readonly OutgoingCall[] {
  const held = new Set(running.map(({ tool }) => lockOf(tool)));
  const inProgress = running.filter(({ call }) => !isOpenToPerson(call)).length;
  const admitted: OutgoingCall[] = [];
  for (const outgoing of waiting) {
    if (inProgress + admitted.length >= parallelCalls) break;
    const lock = lockOf(outgoing.tool);
    if (lock !== undefined && held.has(lock)) continue;
    held.add(lock);
    admitted.push(outgoing);
  }
  return admitted;
}

/** Whether the tool controls subtasks. Its calls do not count as calls in progress. */
export function isSubagent({ name, permissionClass, source }: ToolDescriptor): boolean {
  const startsSubtask = permissionClass === PermissionClass.SUBAGENT || name === buildWorkflowName;
  return startsSubtask && source === "runtime";
}
