import type { JsonValue } from "@bufbuild/protobuf";
import { toBinary } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { valueProblem } from "@reeve/agent/schema/value-problem";
import { isStorable, maxJsonDepth } from "@reeve/contracts/rules/nesting";
import type { RunHookResponse, StatePatch } from "@reeve/contracts/extensions/plugin";
import { HookPhase, MergeMode, RunHookResponseSchema } from "@reeve/contracts/extensions/plugin";
import type { PinnedPlugin } from "@reeve/contracts/run";
import type { RunState } from "../state/run-state.ts";
import type { DueHook } from "./due-hooks.ts";
import { jsonOf, keyOf, merged } from "./merge-values.ts";
import type { PendingAction } from "./plugin-state.ts";
import { valuesWithWaiting } from "./waiting-patches.ts";

const maxAnswerBytes = 65_536;
const maxInstructionBytes = 16_384;
const maxValueBytes = 65_536;
const maxActions = 16;
const maxRounds = 16;
const maxPending = 64;
const maxScheduled = 256;
const minDelayMs = 1_000;
const maxDelayMs = 604_800_000;

const encoder = new TextEncoder();

/** Returns why an answer is not one that its phase and its plugin's description permit. Undefined: it is. */
export function answerProblem(
  state: RunState,
  due: DueHook,
  pinned: PinnedPlugin,
  answer: RunHookResponse,
): string | undefined {
  const bytes = toBinary(RunHookResponseSchema, answer).length;
  if (bytes > maxAnswerBytes) return `it answered ${bytes} bytes, more than ${maxAnswerBytes}`;
  const phase = due.point?.phase ?? HookPhase.ACTION;
  if (phase === HookPhase.DEACTIVATE) {
    return bytes === 0 ? undefined : "it answered something after the end of the run";
  }
  return (
    verdictProblem(phase, answer) ??
    transformProblem(phase, answer) ??
    boundsProblem(state, due, pinned, answer)
  );
}

/** A hook, and the action that it handles. */
interface Handled {
  readonly hookId: string;
  readonly action?: PendingAction | undefined;
}

/** Returns why an answer exceeds what the state of now has room for. Undefined: it does not. */
export function boundsProblem(
  state: RunState,
  handled: Handled,
  pinned: PinnedPlugin,
  answer: RunHookResponse,
): string | undefined {
  return (
    actionsProblem(state, handled, pinned, answer) ?? patchesProblem(state, pinned, answer.patches)
  );
}

function verdictProblem(phase: HookPhase, { verdict }: RunHookResponse): string | undefined {
  const isGate = phase === HookPhase.TOOL_GATE;
  switch (verdict.case) {
    case "ask":
    case "rewrite":
      if (!isGate) return `its verdict ${verdict.case} is possible in the tool gate only`;
      return verdict.case === "rewrite" && !isStorable(verdict.value.arguments ?? {})
        ? `the arguments of its rewrite are nested deeper than ${maxJsonDepth} levels`
        : undefined;
    case "deny":
      return isGate || phase === HookPhase.BEFORE_TOOL
        ? undefined
        : "its verdict deny is possible before a call only";
    case "allow":
    case "stop":
    case undefined:
      return undefined;
  }
}

function transformProblem(phase: HookPhase, { transform }: RunHookResponse): string | undefined {
  if (transform === undefined) return undefined;
  if (phase !== HookPhase.BEFORE_INFERENCE) {
    return "its transform is possible before the inference only";
  }
  return encoder.encode(transform.instructions).length > maxInstructionBytes
    ? `its instructions have more than ${maxInstructionBytes} bytes`
    : undefined;
}

function actionsProblem(
  { plugins }: RunState,
  { hookId, action: handled }: Handled,
  { plugin }: PinnedPlugin,
  { actions }: RunHookResponse,
): string | undefined {
  if (actions.length === 0) return undefined;
  if (!plugin?.pluginDescriptor?.handlesActions) {
    return "it scheduled an action, and its description does not say handles_actions";
  }
  if (actions.length > maxActions) return `it scheduled more than ${maxActions} actions`;
  const pending = (plugins?.actions.length ?? 0) - (handled === undefined ? 0 : 1);
  if (pending + actions.length > maxPending) {
    return `more than ${maxPending} actions of the run would wait`;
  }
  const scheduled = plugins?.scheduled.get(handled?.rootId ?? hookId) ?? 0;
  if (scheduled + actions.length > maxScheduled) {
    return `more than ${maxScheduled} actions would follow one hook, with the actions that they schedule`;
  }
  for (const { name, payload, delay } of actions) {
    const ms = delay === undefined ? undefined : durationMs(delay);
    if (ms !== undefined && !(ms >= minDelayMs && ms <= maxDelayMs)) {
      return `the delay of its action "${name}" is not from 1 s to 7 days`;
    }
    if (!isStorable(payload ?? {})) {
      return `the payload of its action "${name}" is nested deeper than ${maxJsonDepth} levels`;
    }
    if (ms === undefined && (handled?.round ?? 0) >= maxRounds) {
      return `its actions scheduled each other in ${maxRounds} rounds`;
    }
  }
  return undefined;
}

/** Several patches of one answer may change one key. */
function patchesProblem(
  state: RunState,
  pinned: PinnedPlugin,
  patches: readonly StatePatch[],
): string | undefined {
  const { plugins } = state;
  if (plugins === undefined || patches.length === 0) return undefined;
  const values = new Map(valuesWithWaiting(state, plugins));
  for (const patch of patches) {
    const problem = patchProblem(values, pinned, patch);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Returns why a patch does not fit. If it does, applies it to `values`. */
function patchProblem(
  values: Map<string, JsonValue>,
  { plugin }: PinnedPlugin,
  patch: StatePatch,
): string | undefined {
  const where = `its patch of "${patch.key}"`;
  const key = keyOf(plugin?.pluginDescriptor, patch.key);
  if (key === undefined) return `${where} changes a key that it does not declare`;
  const value = jsonOf(patch.value);
  if (value === undefined) return `${where} has no value that JSON can hold`;
  if (key.merge === MergeMode.SUM && typeof value !== "number") return `${where} is not a number`;
  if (key.merge === MergeMode.UNION && !Array.isArray(value)) return `${where} is not a list`;
  if (!isStorable(wrapped(value))) {
    return `${where} is nested deeper than ${maxJsonDepth} levels`;
  }
  const problem = key.schema && valueProblem(key.schema, value);
  if (problem !== undefined) return `${where} does not fit its schema: ${problem}`;
  const before = values.get(key.name);
  if (key.merge === MergeMode.SUM && !Number.isFinite(Number(before ?? 0) + Number(value))) {
    return `${where} makes the sum larger than a number can be`;
  }
  const after = merged(before, patch, key.merge);
  values.set(key.name, after);
  return encoder.encode(JSON.stringify(after)).length > maxValueBytes
    ? `${where} makes the value larger than ${maxValueBytes} bytes`
    : undefined;
}

function wrapped(value: JsonValue) {
  return { value };
}
