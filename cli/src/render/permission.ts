import type { PermissionDecision } from "@reeve/contracts/tool";
import { PermissionBehavior } from "@reeve/contracts/tool";
import { oneLine } from "./plain-text.ts";

const verbs: Partial<Record<PermissionBehavior, string>> = {
  [PermissionBehavior.ASK]: "asked for",
  [PermissionBehavior.ALLOW]: "allowed",
  [PermissionBehavior.DENY]: "denied",
};

/** Renders which permission rule decided about a call; empty if none did. */
export function renderPermission(decision: PermissionDecision | undefined, width: number): string {
  if (decision === undefined) return "";
  const { behavior, rule, source, policyRule, agentId } = decision;
  const ofAgent = agentId === "" ? source : `agent ${agentId}`;
  const owner = source === "policy" ? `policy rule ${policyRule}` : ofAgent;
  return oneLine(`${verbs[behavior] ?? "decided"} by ${rule} (${owner})`, width);
}
