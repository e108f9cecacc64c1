import type { Approval, Client } from "@reeve/client";
import { isAgentQuestion } from "@reeve/contracts/rules/agent-question";
import { askPerson } from "./ask-person.ts";
import type { DecisionContext } from "./decision-context.ts";
import { askQuestion } from "./questions/ask-question.ts";

/** Who decides an approval: a person at the terminal, or an option of the command. */
export type DecisionMode = "ask" | "approve" | "reject";

/** Decides an approval. A person who is asked may leave it undecided, and is asked no more once `withdrawn` aborts. */
export async function decide(
  context: DecisionContext,
  reeve: Pick<Client, "answer" | "decide">,
  approval: Approval,
  mode: DecisionMode,
  withdrawn: AbortSignal,
): Promise<void> {
  if (mode === "ask") {
    const ask = isAgentQuestion(approval) ? askQuestion : askPerson;
    return await ask(context, reeve, approval, withdrawn);
  }
  await reeve.decide({ approvalId: approval.approvalId, approved: mode === "approve" }, context);
}
