import { HookPhase } from "@reeve/contracts/extensions/plugin";
import type { RunHookResponse } from "@reeve/contracts/extensions/plugin";
import { canonicalJson } from "@reeve/contracts/digest/canonical-json";
import { truncateToBytes } from "@reeve/agent/text/truncate-to-bytes";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import { approvedCall } from "../calls/approved-call.ts";
import type { Call, Frame } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { awaitsHooks, gateRound, hookedPlugins, hookIdOf, stepPoint } from "./hook-points.ts";
import { onceForHooks } from "./once-for-hooks.ts";
import type { HookOutcome } from "./plugin-state.ts";
import { idOf } from "./plugin-state.ts";

/** What plugins say about a call. Undefined: nothing stands before it. `pending`: not all of them have answered. */
export type GateVerdict =
  | { readonly kind: "pending" }
  | { readonly kind: "denied"; readonly problem: string }
  /** `reasons` name the plugins that ask, and why. */
  | { readonly kind: "ask"; readonly reasons: readonly string[] }
  | undefined;

/** Whether plugins are asked about a call: the answer of a frame is no call. */
export function isGated(state: RunState, { call }: Call): boolean {
  return state.plugins !== undefined && call.name !== finishSubtaskName;
}

/** Returns the strictest of what the plugins say about a call with its arguments of now. */
export const gateVerdict = onceForHooks(function verdict(
  state: RunState,
  frame: Frame,
  call: Call,
): GateVerdict {
  if (!isGated(state, call)) return undefined;
  if (awaitsHooks(state, stepPoint(frame, HookPhase.TOOL_GATE, call))) return { kind: "pending" };
  const outcomes = [
    ...outcomesAt(state, frame, call, HookPhase.TOOL_GATE),
    ...outcomesOfAll(state, frame, call, HookPhase.BEFORE_TOOL),
  ];
  const problem = outcomes.map(denialIn).find((text) => text !== undefined);
  if (problem !== undefined) return { kind: "denied", problem };
  const rewriting = outcomes.filter((outcome) => replaces(outcome, call));
  // The rewrite of the first round is a part of the call already.
  if (rewriting.length > 0) {
    const names = rewriting.map(({ pluginId }) => pluginId).join(", ");
    const problemOf = gateRound(call) > 0 ? "replaced" : "also replaces";
    return {
      kind: "denied",
      problem: `more than one replacement of the arguments of this call: ${names} ${problemOf} them`,
    };
  }
  const reasons = outcomes.flatMap(reasonToAsk);
  return reasons.length > 0 ? { kind: "ask", reasons } : undefined;
});

function outcomesAt(
  state: RunState,
  frame: Frame,
  call: Call,
  phase: HookPhase,
): readonly HookOutcome[] {
  const { plugins } = state;
  if (plugins === undefined) return [];
  const point = stepPoint(frame, phase, call);
  return hookedPlugins(state, point).flatMap(
    (each) => plugins.outcomes.get(hookIdOf(state, point, idOf(each))) ?? [],
  );
}

/** Returns the outcomes at a point whose hooks have all ended. A refusal before would lose the patches of all of them. */
function outcomesOfAll(
  state: RunState,
  frame: Frame,
  call: Call,
  phase: HookPhase,
): readonly HookOutcome[] {
  const outcomes = outcomesAt(state, frame, call, phase);
  const point = stepPoint(frame, phase, call);
  return outcomes.length === hookedPlugins(state, point).length ? outcomes : [];
}

/** Returns why an outcome refuses a call. A gate that failed refuses: nobody knows what it would have said. */
function denialIn({ pluginId, phase, answer, error }: HookOutcome): string | undefined {
  if (error !== "") {
    return phase === HookPhase.TOOL_GATE
      ? `the plugin ${pluginId} did not decide on this call: ${error}`
      : undefined;
  }
  if (answer?.verdict.case !== "deny") return undefined;
  const { reason } = answer.verdict.value;
  return `the plugin ${pluginId} denies this call${reason === "" ? "" : `: ${reason}`}`;
}

const maxReasonBytes = 1_000;

function reasonToAsk({ pluginId, answer }: HookOutcome): readonly string[] {
  if (answer?.verdict.case !== "ask") return [];
  const { reason } = answer.verdict.value;
  return [truncateToBytes(reason === "" ? pluginId : `${pluginId}: ${reason}`, maxReasonBytes)];
}

/** Returns the single rewrite among the answers of the first round, with its plugin. Undefined: there is none, or more than one. */
export function rewriteAmong(
  outcomes: readonly HookOutcome[],
  call: Call,
): { readonly pluginId: string; readonly verdict: RunHookResponse["verdict"] } | undefined {
  const isRefused = outcomes.some((outcome) => denialIn(outcome) !== undefined);
  const rewriting = outcomes.filter((outcome) => replaces(outcome, call));
  const [only] = rewriting;
  if (isRefused || rewriting.length !== 1 || only?.answer === undefined) return undefined;
  return { pluginId: only.pluginId, verdict: only.answer.verdict };
}

/** Whether an outcome gives a call other arguments than those of now. The same ones are no replacement. */
function replaces({ answer }: HookOutcome, call: Call): boolean {
  if (answer?.verdict.case !== "rewrite") return false;
  const given = answer.verdict.value.arguments ?? {};
  return canonicalJson(given) !== canonicalJson(approvedCall(call).arguments ?? {});
}
