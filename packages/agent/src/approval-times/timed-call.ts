import type { Approval } from "@reeve/contracts/approval";

/** A call that waits for an approval, as the rules about times select it. */
export interface TimedCall {
  readonly tenant: string;
  readonly agentId: string;
  /** The delegate of the agent that makes the call. Absent or empty: the agent itself does. */
  readonly delegateId?: string;
  /** The delegates between the agent and that one. Default: none. */
  readonly callingDelegates?: readonly string[];
  readonly tool: string;
}

/** Returns the call of an approval. */
export function timedCall(
  { agentId, delegateId, callingDelegates, call }: Approval,
  tenant: string,
): TimedCall {
  return { tenant, agentId, delegateId, callingDelegates, tool: call?.name ?? "" };
}
