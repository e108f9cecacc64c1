import { randomUUID } from "node:crypto";
import type { Approval } from "@reeve/contracts/approval";
import { brief, persistently } from "../back-off.ts";
import type { Cli } from "../cli.ts";
import type { Reeve } from "../client.ts";

/** How approvals are decided: by a person at the terminal, or as was said beforehand. */
export type Deciding = "ask" | "approve" | "reject";

/** Decides an approval of the demo. */
export async function decide(
  { terminal, signal }: Pick<Cli, "terminal" | "signal">,
  reeve: Pick<Reeve, "approvals">,
  approval: Approval,
  deciding: Deciding,
): Promise<void> {
  const tool = approval.call?.name ?? "the call";
  const approved =
    deciding === "ask"
      ? await isAgreed(`    approve ${tool}? [y/n] `, terminal, signal)
      : deciding === "approve";
  const request = {
    approvalId: approval.approvalId,
    approved,
    reason: approved ? "" : "a person declined",
    decisionId: randomUUID(),
  };
  const send = () => reeve.approvals.decideApproval(request, { signal });
  await persistently(send, brief, signal);
}

async function isAgreed(
  question: string,
  terminal: Cli["terminal"],
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    const answer = (await terminal.ask(question, signal)).trim().toLowerCase();
    if (answer === "y" || answer === "yes") return true;
    if (answer === "n" || answer === "no") return false;
  }
}
