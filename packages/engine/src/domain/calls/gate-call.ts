import { ApprovalState, GateKind } from "@reeve/contracts/approval";
import { HookPhase } from "@reeve/contracts/extensions/plugin";
import { callDigest } from "@reeve/contracts/digest/call-digest";
import type { PermissionDecision, ToolDescriptor } from "@reeve/contracts/tool";
import { PermissionBehavior, ToolStatus } from "@reeve/contracts/tool";
import { isApprovalNode } from "@reeve/agent/workflow/wait-tools";
import { describeDecision } from "@reeve/agent/permission/decide-call";
import { finishSubtaskName } from "@reeve/agent/tools/runtime-tools";
import { truncateToBytes } from "@reeve/agent/text/truncate-to-bytes";
import { askQuestion, endQuestion, isAskUser } from "./questions/ask-user.ts";
import { approvedCall } from "./approved-call.ts";
import { boundPaths } from "./bound-paths.ts";
import { permissionOf } from "./call-permission.ts";
import type { Deciders } from "./deciders-of.ts";
import { requestApproval } from "./request-approval.ts";
import { decidersOf } from "./deciders-of.ts";
import { decisionProblem } from "./decision-problem.ts";
import { onceForCall } from "./once-for-call.ts";
import { resultBytesIn } from "../budget/frame-caps.ts";
import { agentsOver } from "../delegates/callers-of.ts";
import type { Fact } from "../state/fact.ts";
import type { Call, Frame } from "../state/frame.ts";
import { rootId, scopeOf } from "../state/frame.ts";
import type { RunState } from "../state/run-state.ts";
import { refusedTurn } from "../guardrails/refused-turn.ts";
import { gateVerdict } from "../plugins/gate-verdict.ts";
import { awaitsHooks, stepPoint } from "../plugins/hook-points.ts";
import { onceForFrame } from "../plugins/once-for-hooks.ts";
import { transformOf } from "../plugins/request-transform.ts";
import { refuse } from "./tool-result.ts";
import { argumentProblems } from "../schema/validate-arguments.ts";

/** Returns the facts that a call needs before it can start: a refusal, or a request for an approval. None if it may start or waits. */
export function gateCall(
  state: RunState,
  frame: Frame,
  pending: Call,
  nowMs: number,
): readonly Fact[] {
  if (pending.result !== undefined || pending.startedAtMs !== undefined) return [];
  const scope = scopeOf(frame);
  const refused = (content: string, status: ToolStatus = ToolStatus.ERROR): readonly Fact[] => [
    refuse(pending, scope, truncateToBytes(content, resultBytesIn(state, frame)), status, nowMs),
  ];
  const gate = gateOf(state, frame, pending);
  if (gate?.kind === "refused") {
    const content = truncateToBytes(gate.problem, resultBytesIn(state, frame));
    const { permission, status } = gate;
    return [refuse({ ...pending, permission }, scope, content, status, nowMs)];
  }
  if (gate?.kind === "hooks") return [];
  if (gate?.kind === "question") return askQuestion(state, pending, scope, nowMs);
  if (gate?.kind === "ask") {
    // The effect that inspects the files of the call requests the approval.
    if (isBoundToFiles(frame, pending)) return [];
    return [requestApproval(state, pending, { ...gate, scope }, nowMs)];
  }
  const { approval } = pending;
  if (approval === undefined) return [];
  if (approval.question !== undefined) return endQuestion(state, frame, pending, nowMs);
  const reason = approval.decision?.reason ?? "";
  switch (approval.state) {
    case ApprovalState.REJECTED:
    case ApprovalState.WITHDRAWN:
      return refused(
        `${approval.decision?.reviewer ? "the reviewer of the agent" : "a person"} rejected this call${reason === "" ? "" : `: ${reason}`}`,
        ToolStatus.REJECTED,
      );
    case ApprovalState.TIMED_OUT:
      return refused("nobody approved this call in time", ToolStatus.TIMED_OUT);
    case ApprovalState.APPROVED: {
      if (!isForCall(state, pending)) {
        return refused("the approval was given for another call", ToolStatus.REJECTED);
      }
      const problem = decisionProblem(state, frame, pending);
      if (problem !== undefined) return refused(problem, ToolStatus.REJECTED);
      return namesBoundFiles(frame, pending)
        ? []
        : refused(
            "the arguments with which this call was approved name other files than those that the approval showed; call again with these arguments",
            ToolStatus.REJECTED,
          );
    }
    case ApprovalState.SUPERSEDED:
    case ApprovalState.PENDING:
    case ApprovalState.UNSPECIFIED:
      return [];
  }
  return [];
}

/** What stands before a call that has no approval, or an approved one: a refusal, reasons why it needs an approval, or its own answer. */
type Gate =
  | {
      readonly kind: "refused";
      readonly problem: string;
      readonly status: ToolStatus;
      readonly permission: PermissionDecision | undefined;
    }
  | { readonly kind: "question" }
  /** Plugins have not answered yet. */
  | { readonly kind: "hooks" }
  | {
      readonly kind: "ask";
      readonly gates: readonly GateKind[];
      readonly permission: PermissionDecision | undefined;
      readonly deciders: Deciders;
      /** Why plugins ask. Empty: none does. */
      readonly pluginReasons: readonly string[];
    };

/** The gates of each state, which its effects and its next facts ask for several times. */
const known = new WeakMap<RunState, Map<Call, { readonly gate: Gate | undefined }>>();

/** Returns what stands before a call that has not started. Undefined: nothing, or its approval decides. */
export function gateOf(state: RunState, frame: Frame, pending: Call): Gate | undefined {
  if (pending.result !== undefined || pending.startedAtMs !== undefined) return undefined;
  const gates = known.get(state) ?? new Map<Call, { readonly gate: Gate | undefined }>();
  known.set(state, gates);
  const before = gates.get(pending);
  if (before !== undefined) return before.gate;
  const gate = computedGate(state, frame, pending);
  gates.set(pending, { gate });
  return gate;
}

function computedGate(state: RunState, frame: Frame, pending: Call): Gate | undefined {
  const { approval } = pending;
  const problem = refusedTurn(frame)?.refusal ?? problemOf(frame, pending);
  if (problem !== undefined)
    return { kind: "refused", problem, status: ToolStatus.ERROR, permission: undefined };
  // The arguments of an approved call may be other ones than when it was requested.
  const isDecided = approval === undefined || approval.state === ApprovalState.APPROVED;
  const tool = frame.tools.get(pending.call.name);
  // The answer of a run is no call that rules are about.
  const isRuled = isDecided && !(frame.id === rootId && pending.call.name === finishSubtaskName);
  const permission = isRuled && tool ? permissionOf(state, frame, tool, pending) : undefined;
  if (permission?.behavior === PermissionBehavior.DENY) {
    const denial = `${describeDecision(permission)} denies this call`;
    return { kind: "refused", problem: denial, status: ToolStatus.ERROR, permission };
  }
  const { gate, reasons: pluginReasons } = pluginGate(state, frame, pending);
  if (gate !== undefined) return gate;
  if (approval !== undefined) return undefined;
  if (tool !== undefined && isAskUser(tool)) return { kind: "question" };
  const gates = [
    ...gatesOf(state, frame, pending, permission),
    ...(pluginReasons.length > 0 ? [GateKind.PLUGIN] : []),
  ];
  if (gates.length === 0) return undefined;
  const deciders = decidersOf(state, frame, pending.call);
  return typeof deciders === "string"
    ? { kind: "refused", problem: deciders, status: ToolStatus.REJECTED, permission: undefined }
    : { kind: "ask", gates, permission, deciders, pluginReasons };
}

/** Returns what plugins put before a call, and whether they ask for an approval. They only add to what rules and agents say. */
function pluginGate(
  state: RunState,
  frame: Frame,
  pending: Call,
): { readonly gate?: Gate; readonly reasons: readonly string[] } {
  if (state.plugins === undefined) return { reasons: [] };
  // What they say of the whole answer comes before its calls. The calls of a workflow belong to no answer.
  const isOfAnswer = frame.workflow === undefined;
  if (isOfAnswer && awaitsAnswerHooks(state, frame)) {
    return { gate: { kind: "hooks" }, reasons: [] };
  }
  const remover = transformOf(state, frame).removed.get(pending.call.name);
  if (remover !== undefined) {
    const problem = `the plugin ${remover} removed the tool ${pending.call.name} in this step`;
    return { gate: refusal(problem), reasons: [] };
  }
  const verdict = gateVerdict(state, frame, pending);
  switch (verdict?.kind) {
    case "pending":
      return { gate: { kind: "hooks" }, reasons: [] };
    case "denied":
      return { gate: refusal(verdict.problem), reasons: [] };
    case "ask":
      return { reasons: verdict.reasons };
    case undefined:
      return { reasons: [] };
  }
}

const awaitsAnswerHooks = onceForFrame((state: RunState, frame: Frame) =>
  awaitsHooks(state, stepPoint(frame, HookPhase.AFTER_INFERENCE)),
);

function refusal(problem: string): Gate {
  return { kind: "refused", problem, status: ToolStatus.ERROR, permission: undefined };
}

/** Whether an approval of the call is bound to files, which must be inspected before it is requested. */
export function isBoundToFiles({ tools }: Frame, pending: Call): boolean {
  const tool = tools.get(pending.call.name);
  return tool !== undefined && boundPaths(tool, pending).length > 0;
}

/**
 * Whether an approved call names only files that its approval is bound to: edited arguments may name others. With fewer files, the
 * approval is still bound to all that it showed.
 */
function namesBoundFiles({ tools }: Frame, pending: Call): boolean {
  const tool = tools.get(pending.call.name);
  const { approval } = pending;
  // Without edited arguments they are the same, and an older version bound no files.
  if (tool === undefined || approval?.decision?.editedArguments === undefined) return true;
  const bound = approval.content?.files.map(({ path }) => path) ?? [];
  const named = boundPaths(tool, pending);
  return named.every((path) => bound.includes(path));
}

/** Whether the call waits for an approval. */
export function awaitsApproval({ result, approval }: Call): boolean {
  return result === undefined && approval?.state === ApprovalState.PENDING;
}

/** Whether a call that has passed the gate may start. */
export function isCleared({ result, approval }: Call): boolean {
  return (
    result === undefined && (approval === undefined || approval.state === ApprovalState.APPROVED)
  );
}

/** Returns why the call needs an approval, by its agent or by one that called it. Empty: it needs none. */
function gatesOf(
  state: RunState,
  frame: Frame,
  { call }: Call,
  permission: PermissionDecision | undefined,
): readonly GateKind[] {
  const agents = agentsOver(state, frame);
  const isNamed = agents.some(({ spec }) => spec?.hitlTools.includes(call.name));
  const tool = frame.tools.get(call.name);
  const isOfSource = agents.some(({ prepared }) => prepared?.gatedTools.includes(call.name));
  return [
    ...(isNamed ? [GateKind.TOOL] : []),
    ...(isOfSource ? [GateKind.TOOL_SOURCE] : []),
    ...(permission?.behavior === PermissionBehavior.ASK ? [GateKind.PERMISSION] : []),
    ...(tool !== undefined && isApprovalNode(tool) ? [GateKind.WORKFLOW] : []),
  ];
}

/** Whether the approval of a call was given for this call. An approval of an older version does not say. */
function isForCall({ head: { created } }: RunState, { call, approval }: Call): boolean {
  const digest = approval?.callDigest ?? "";
  return digest === "" || digest === callDigest(call, created, approval?.content);
}

const checkedArguments = onceForCall((call, tool: ToolDescriptor) =>
  argumentProblems(tool, call.arguments ?? {}),
);

/** Returns why a call cannot be executed, whatever people and rules say about it. Undefined: it can. */
export function problemOf({ tools }: Frame, pending: Call): string | undefined {
  const call = approvedCall(pending);
  const tool = tools.get(call.name);
  if (tool === undefined) {
    const known = [...tools.keys()].join(", ");
    return `there is no tool "${call.name}"; the tools are: ${known === "" ? "none" : known}`;
  }
  if (call.arguments === undefined)
    return "the arguments are not a JSON object, or are nested too deeply; call again with a simple JSON object";
  const problems = checkedArguments(call, tool);
  return problems.length === 0
    ? undefined
    : `the arguments do not fit ${call.name}: ${problems.join("; ")}`;
}
