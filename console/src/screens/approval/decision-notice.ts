import type { Approval } from "@reeve/contracts/approval";
import { ApprovalState } from "@reeve/contracts/approval";
import { isAgentQuestion } from "@reeve/contracts/rules/agent-question";
import { nameOfCall, questionOf } from "../../format/names.ts";
import { argumentsLine } from "./arguments-line.ts";
import { whoDecides } from "./standing.ts";

/** Says what the decision of this person did. */
export function noticeOf(decided: Approval | undefined): string {
  if (decided === undefined) return "Your decision is stored.";
  const { call, question, state } = decided;
  const asked = questionOf(call);
  const line = asked === undefined ? argumentsLine(call, 80) : "";
  const name = asked === undefined ? nameOfCall(call) : `“${asked}”`;
  const what = `${name}${line === "" ? "" : ` ${line}`}`;
  const isApproved = state === ApprovalState.APPROVED;
  switch (state) {
    case ApprovalState.PENDING:
      return `Your vote about ${what} is counted. It waits for ${whoDecides(decided)}.`;
    case ApprovalState.APPROVED:
    case ApprovalState.REJECTED:
      if (question !== undefined) {
        const asker = isAgentQuestion(decided) ? "the agent" : (call?.name ?? "the tool");
        return `You ${isApproved ? "answered" : "declined"} the question of ${asker}.`;
      }
      return `You ${isApproved ? "approved" : "rejected"} ${what}.`;
    default:
      return `${what} waits no more.`;
  }
}
