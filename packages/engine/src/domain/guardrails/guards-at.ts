import type { GuardTarget } from "@reeve/agent/guardrails/guard";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import { HookPhase } from "@reeve/contracts/extensions/plugin";
import type { PinnedPlugin } from "@reeve/contracts/run";
import { delegateFrames } from "../delegates/callers-of.ts";
import type { HookPoint } from "../plugins/hook-point.ts";
import type { Call, Frame } from "../state/frame.ts";
import { rootId } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import type { RunGuard } from "./pinned-guards.ts";
import { workflowAnswer } from "./workflow-answer.ts";
import { guardrailsId, guardsOf } from "./pinned-guards.ts";

/** What guards look at in each phase in which there are any. */
const targets: ReadonlyMap<HookPhase, GuardTarget> = new Map([
  [HookPhase.RUN_START, "input"],
  [HookPhase.STEP_START, "input"],
  [HookPhase.AFTER_INFERENCE, "output"],
  [HookPhase.TOOL_GATE, "arguments"],
  [HookPhase.AFTER_TOOL, "result"],
]);

/** Returns the phases in which guards with these targets look at something. */
export function phasesOf(given: ReadonlySet<GuardTarget>): HookPhase[] {
  return [...targets].flatMap(([phase, target]) => (given.has(target) ? [phase] : []));
}

/** Returns what guards look at in a phase. Undefined: nothing. */
export function targetAt(phase: HookPhase): GuardTarget | undefined {
  return targets.get(phase);
}

/** Returns the built-in plugin with the guards of a run. Undefined: the run has none. */
export function pinnedGuardrails({ plugins }: Pick<RunState, "plugins">): PinnedPlugin | undefined {
  return plugins?.pinned.find(({ plugin }) => plugin?.pluginDescriptor?.id === guardrailsId);
}

/** Returns the guards that look at something at a point of a run. It depends on nothing that changes before the point is over. */
export function guardsAt(state: RunState, point: HookPoint): readonly RunGuard[] {
  const target = targets.get(point.phase);
  const pinned = target && pinnedGuardrails(state);
  const frame = state.frames.get(point.frame);
  if (target === undefined || pinned === undefined || frame === undefined) return [];
  const guards = guardsOf(pinned).filter((guard) => guard.targets.includes(target));
  if (guards.length === 0) return [];
  switch (target) {
    case "input":
      return guards.filter(({ agentId }) => isGivenTo(agentId, frame, point));
    case "output":
      if (frame.workflow !== undefined) return guardsOfWorkflow(state, guards, frame);
      return frame.hasTurn ? guardsOfAnswer(guards, frame, frame) : [];
    case "arguments":
    case "result":
      return guardsOfCall(state, guards, frame, point.call);
  }
}

/** Returns the guards that look at the next answer of a frame and hold it back. Empty: its text is shown while it arrives. */
export function holdingGuards(state: RunState, frame: Frame): readonly RunGuard[] {
  const pinned = pinnedGuardrails(state);
  if (pinned === undefined) return [];
  const guards = guardsOf(pinned).filter(
    ({ targets: own, agentId }) => own.includes("output") && answersTo(agentId, frame),
  );
  return guards.some(({ holds }) => holds) ? guards : [];
}

/** Returns the guards, of those for the answers of a frame, that look at a turn. */
export function guardsOfAnswer(
  guards: readonly RunGuard[],
  frame: Frame,
  { text, calls }: { readonly text: string; readonly calls: readonly Pick<Call, "call">[] },
): readonly RunGuard[] {
  const hasResult = calls.some(({ call }) => call.name === finishSubtaskName);
  const isAnswer = hasResult || calls.length === 0;
  return guards.filter(
    ({ agentId, check }) =>
      answersTo(agentId, frame) && (check.kind === "schema" ? isAnswer : hasResult || text !== ""),
  );
}

function guardsOfWorkflow(
  state: RunState,
  guards: readonly RunGuard[],
  frame: Frame,
): readonly RunGuard[] {
  const own = guards.filter(({ agentId }) => answersTo(agentId, frame));
  const answer = own.length === 0 ? undefined : workflowAnswer(state, frame);
  if (answer === undefined) return [];
  return own.filter(({ check }) => check.kind === "schema" || answer !== "");
}

/** Whether what comes in at a point is for the author of a guard: messages to the run, or the task of a delegate. */
function isGivenTo(agentId: string, frame: Frame, { phase, step }: HookPoint): boolean {
  if (phase === HookPhase.RUN_START) return agentId === "";
  if (frame.id === rootId) return agentId === "" && frame.injected > 0;
  return step === 1 && agentId !== "" && answersTo(agentId, frame);
}

/** Whether a frame answers for the author of a guard: the root for the run, and the frame in which a delegate began for it. */
function answersTo(agentId: string, { id, delegate }: Frame): boolean {
  return agentId === "" ? id === rootId : delegate?.frameId === id && delegate.agentId === agentId;
}

function guardsOfCall(
  state: RunState,
  guards: readonly RunGuard[],
  frame: Frame,
  call: Call | undefined,
): readonly RunGuard[] {
  if (call === undefined) return [];
  const agents = new Set(delegateFrames(state, frame).map(({ delegate }) => delegate?.agentId));
  return guards.filter(
    ({ agentId, tools }) =>
      (agentId === "" || agents.has(agentId)) &&
      (tools === undefined || tools.some((pattern) => pattern.matches(call.call.name))),
  );
}
