import type { Approval } from "@reeve/contracts/approval";

/** Names the agent of an approval, and its delegate if that made the call. */
export function agentOf({ agentId, delegateId }: Pick<Approval, "agentId" | "delegateId">): string {
  return delegateId === "" ? agentId : `${agentId} (${delegateId})`;
}
