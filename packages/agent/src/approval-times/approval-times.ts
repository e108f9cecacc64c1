import type { PermissionClass } from "@reeve/contracts/tool";
import type { NamePattern } from "../tools/name-pattern.ts";
import type { Period } from "./period.ts";
import type { TimedCall } from "./timed-call.ts";

/** When calls can be approved, by the operator's policy. */
export interface ApprovalTimes {
  readonly waits: readonly WaitRule[];
  readonly freezes: readonly Freeze[];
  readonly breakGlass: readonly BreakGlassRule[];
  /** Calls that people approve only with a passkey. */
  readonly stepUp: readonly StepUpRule[];
}

/** How many characters the reason must have with which somebody breaks the glass, by default. */
export const defaultReasonLength = 20;

/** Who may approve calls in an emergency, alone and at once, in spite of all waits, freezes, and thresholds. */
export interface BreakGlassRule extends CallSelection {
  readonly people: readonly string[];
  readonly groups: readonly string[];
  readonly minReasonLength: number;
  readonly allowRequester: boolean;
}

/** A time that must pass between the request of an approval and the approval. */
export interface WaitRule extends CallSelection {
  readonly waitMs: number;
}

/** A period in which calls cannot be approved. */
export interface Freeze extends CallSelection {
  readonly period: Period;
}

/**
 * Selects the calls that people approve only with a passkey: of its tenants and agents, those of its tools, and those of its classes.
 * Without either, all.
 */
export interface StepUpRule extends CallSelection {
  readonly classes: ReadonlySet<PermissionClass>;
}

/** A rule for the calls that all of its conditions match. An absent condition matches every call. */
export interface CallSelection {
  readonly name: string;
  readonly tenants: readonly NamePattern[] | undefined;
  readonly agents: readonly NamePattern[] | undefined;
  readonly tools: readonly NamePattern[] | undefined;
}

/** Whether a rule that restricts calls selects a call: it names the agent that makes the call, or one of the agents that called this agent. */
export function selects({ agents, ...rule }: CallSelection, call: TimedCall): boolean {
  return fitsPlace(rule, call) && agentsOf(call).some((id) => fits(agents, id));
}

/** Whether a rule that permits something selects a call: it names the agent that makes the call, and each of the agents that called this agent. */
export function permits({ agents, ...rule }: CallSelection, call: TimedCall): boolean {
  return fitsPlace(rule, call) && agentsOf(call).every((id) => fits(agents, id));
}

function fitsPlace(
  { tenants, tools }: Pick<CallSelection, "tenants" | "tools">,
  { tenant, tool }: TimedCall,
): boolean {
  return fits(tenants, tenant) && fits(tools, tool);
}

function agentsOf({
  agentId,
  delegateId = "",
  callingDelegates = [],
}: TimedCall): readonly string[] {
  return delegateId === "" ? [agentId] : [agentId, ...callingDelegates, delegateId];
}

function fits(patterns: readonly NamePattern[] | undefined, name: string): boolean {
  return patterns === undefined || patterns.some((pattern) => pattern.matches(name));
}

/** Returns how long a call waits at least for its approval by the operator's policy. */
export function waitMsOf(times: ApprovalTimes | undefined, call: TimedCall): number {
  const waits = (times?.waits ?? []).filter((wait) => selects(wait, call));
  return Math.max(0, ...waits.map(({ waitMs }) => waitMs));
}

/**
 * Whether people approve a call only with a passkey by the operator's policy. Undefined: the class of the tool is not known, and every
 * class selects it.
 */
export function operatorNeedsPasskey(
  times: ApprovalTimes | undefined,
  call: TimedCall,
  permissionClass: PermissionClass | undefined,
): boolean {
  return (times?.stepUp ?? []).some((rule) => {
    const { tools, classes } = rule;
    if (!selects({ ...rule, tools: undefined }, call)) return false;
    if (tools === undefined && classes.size === 0) return true;
    if (tools !== undefined && fits(tools, call.tool)) return true;
    return permissionClass === undefined ? classes.size > 0 : classes.has(permissionClass);
  });
}

/** Whether one selection selects at least the calls of another, as far as the same patterns show it. */
export function includesSelection(wide: CallSelection, narrow: CallSelection): boolean {
  return (
    includes(wide.tenants, narrow.tenants) &&
    includes(wide.agents, narrow.agents) &&
    includes(wide.tools, narrow.tools)
  );
}

function includes(
  wide: readonly NamePattern[] | undefined,
  narrow: readonly NamePattern[] | undefined,
): boolean {
  if (wide === undefined) return true;
  return narrow?.every((each) => wide.some(({ text }) => text === each.text)) ?? false;
}
