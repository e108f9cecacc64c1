import { create } from "@bufbuild/protobuf";
import type { GuardVerdict } from "@reeve/contracts/run";
import { GuardAction } from "@reeve/contracts/run";
import type { ToolResult } from "@reeve/contracts/tool";
import { ToolResultSchema } from "@reeve/contracts/tool";
import { redactAt } from "./redact-messages.ts";

/**
 * Returns the result of a call as models and nodes read it after the verdicts of guards. The same result if they change nothing. What
 * guards did not replace something in, its record and the artifact with the whole of it, is left out if they change it.
 */
export function guardedResult(result: ToolResult, guards: readonly GuardVerdict[]): ToolResult {
  const refusing = guards.find(isRefusal);
  const redactions = guards.flatMap((each) => each.redactions);
  if (refusing !== undefined) {
    const content = `${nameOfGuard(refusing)} withholds this result: ${refusing.reason}`;
    return changed(result, { content, isError: true, files: [] });
  }
  if (redactions.length === 0) return result;
  const whole = result.metadata?.offloadedArtifactId ?? "";
  const files = result.files.filter(({ artifactId }) => artifactId !== whole);
  return changed(result, { content: redactAt(result.content, 0, redactions), files });
}

function changed(
  given: ToolResult,
  change: Pick<ToolResult, "content" | "files"> & Partial<Pick<ToolResult, "isError">>,
): ToolResult {
  const { structured: _, metadata, ...result } = given;
  const kept = metadata && {
    ...metadata,
    offloadedArtifactId: "",
    offloadedArtifactSha256: "",
  };
  return create(ToolResultSchema, { ...result, ...change, ...(kept && { metadata: kept }) });
}

/** Returns the name of a guard for people and models, with its author. */
export function nameOfGuard({
  guard,
  policyRule,
  agentId,
}: Pick<GuardVerdict, "guard" | "policyRule" | "agentId">): string {
  if (policyRule !== "") return `the guard "${guard}" of the operator's policy`;
  return agentId === "" ? `the guard "${guard}"` : `the guard "${guard}" of the agent "${agentId}"`;
}

/** Whether a guard refuses what it checked. What makes it stop the run is refused too: nobody is to read it. */
export function isRefusal({ action }: GuardVerdict): boolean {
  return action === GuardAction.REFUSE || action === GuardAction.STOP;
}
