import type { Client } from "@reeve/client";
import type { DecisionResult } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import type { Context } from "../../context.ts";
import type { ExitCode } from "../../exit-code.ts";
import { exitCodes } from "../../exit-code.ts";
import { oneLine, plainText } from "../../render/plain-text.ts";

/** How many approvals one request decides at most. */
const maxDecided = 100;

/** Decides several approvals alike, and prints a line for each. Fails if one of the decisions does. */
export async function decideSeveral(
  { terminal, signal }: Pick<Context, "terminal" | "signal">,
  reeve: Client,
  approvalIds: readonly string[],
  decision: { readonly approved: boolean; readonly reason: string },
): Promise<ExitCode> {
  const ids = [...new Set(approvalIds)];
  let failed = 0;
  for (let at = 0; at < ids.length; at += maxDecided) {
    const decided = ids.slice(at, at + maxDecided).map((approvalId) => ({ approvalId }));
    const results = await reeve.approvals.decide({ decided, ...decision }, { signal });
    for (const result of results) {
      const line = `${oneLine(result.approvalId, 256)} ${outcomeOf(result, decision.approved)}\n`;
      if (result.error === undefined) terminal.out(line);
      else terminal.note(line);
    }
    failed += results.filter(({ error }) => error !== undefined).length;
  }
  return failed === 0 ? exitCodes.ok : exitCodes.failed;
}

function outcomeOf({ state, error }: DecisionResult, approved: boolean): string {
  if (error !== undefined) return `was not decided: ${plainText(error.message)}`;
  if (state !== ApprovalState.PENDING) return approved ? "approved" : "rejected";
  return `has your ${approved ? "approval" : "rejection"}, and waits for others`;
}
