import { waitTools } from "@reeve/agent/workflow/wait-tools";
import type { ToolCall } from "@reeve/contracts/tool";
import type { Approval } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import { EventFamily, EventFamilySchema, RunStatus } from "@reeve/contracts/run";

/** How something is doing; decides its color and mark. */
type Tone = "ok" | "bad" | "busy" | "wait" | "idle";

export interface NamedTone {
  readonly name: string;
  readonly tone: Tone;
}

const statuses: Readonly<Record<RunStatus, NamedTone>> = {
  [RunStatus.UNSPECIFIED]: { name: "unknown", tone: "idle" },
  [RunStatus.QUEUED]: { name: "queued", tone: "idle" },
  [RunStatus.STARTING]: { name: "starting", tone: "busy" },
  [RunStatus.RUNNING]: { name: "running", tone: "busy" },
  [RunStatus.WAITING]: { name: "waiting", tone: "wait" },
  [RunStatus.COMPLETED]: { name: "completed", tone: "ok" },
  [RunStatus.ERROR]: { name: "failed", tone: "bad" },
  [RunStatus.CANCELLED]: { name: "cancelled", tone: "idle" },
};

export function nameOfStatus(status: RunStatus): NamedTone {
  return statuses[status] ?? statuses[RunStatus.UNSPECIFIED];
}

/** The statuses in the order in which people look for them. */
export const listedStatuses: readonly RunStatus[] = [
  RunStatus.RUNNING,
  RunStatus.WAITING,
  RunStatus.QUEUED,
  RunStatus.COMPLETED,
  RunStatus.ERROR,
  RunStatus.CANCELLED,
];

export function isTerminal(status: RunStatus): boolean {
  return (
    status === RunStatus.COMPLETED || status === RunStatus.ERROR || status === RunStatus.CANCELLED
  );
}

const approvals: Readonly<Record<ApprovalState, NamedTone>> = {
  [ApprovalState.UNSPECIFIED]: { name: "unknown", tone: "idle" },
  [ApprovalState.PENDING]: { name: "waiting", tone: "wait" },
  [ApprovalState.APPROVED]: { name: "approved", tone: "ok" },
  [ApprovalState.REJECTED]: { name: "rejected", tone: "bad" },
  [ApprovalState.TIMED_OUT]: { name: "expired", tone: "bad" },
  [ApprovalState.WITHDRAWN]: { name: "withdrawn", tone: "idle" },
  [ApprovalState.SUPERSEDED]: { name: "superseded", tone: "idle" },
};

export function nameOfApproval(state: ApprovalState): NamedTone {
  return approvals[state] ?? approvals[ApprovalState.UNSPECIFIED];
}

/** Every family of events, records included. */
// The values of a descriptor are numbers.
export const allFamilies = EventFamilySchema.values
  .map(({ number }) => number)
  .filter((family) => family !== EventFamily.UNSPECIFIED) as readonly EventFamily[];

/** Splits the name of a kind of event: `toolCallStarted` becomes `tool call started`. */
export function nameOfKind(kind: string | undefined): string {
  return kind === undefined ? "unknown" : kind.replace(/[A-Z]/g, (one) => ` ${one.toLowerCase()}`);
}

/** Names the agent of an approval, and its delegate if that made the call. */
export function nameOfAgent({
  agentId,
  delegateId,
}: Pick<Approval, "agentId" | "delegateId">): string {
  return delegateId === "" ? agentId : `${agentId} (${delegateId})`;
}

/** Returns the question of a workflow's approval. Undefined: the call is another one. */
export function questionOf(call: ToolCall | undefined): string | undefined {
  const question = call?.name === waitTools.approval ? call.arguments?.["question"] : undefined;
  return typeof question === "string" && question !== "" ? question : undefined;
}

/** Names what is decided about: the question of a workflow's approval, or else the node or the tool. */
export function nameOfCall(call: ToolCall | undefined): string {
  return questionOf(call) ?? (call?.nodeId || call?.name || "a call");
}
