import type { JsonObject } from "@bufbuild/protobuf";
import type { Approval, Client } from "@reeve/client";
import { ReeveError } from "@reeve/client";

/** An answer to a question of an agent. Without `answer`, it is declined. */
export interface Answer {
  readonly approvalId: string;
  readonly answer?: JsonObject;
  readonly reason?: string;
}

/**
 * Answers a question of an agent as somebody who asked for its run, or else with the role approver. Throws the refusal of the first way
 * if both are refused, because it says who may answer.
 */
export async function sendAnswer(
  reeve: Pick<Client, "answer" | "decide">,
  { approvalId, answer, reason = "" }: Answer,
  signal: AbortSignal,
): Promise<Approval> {
  const declined = answer === undefined;
  const content = { approvalId, reason, ...(answer && { answer }) };
  try {
    return await reeve.answer({ ...content, declined }, { signal });
  } catch (refused) {
    if (!isDenied(refused)) throw refused;
    return await reeve.decide({ ...content, approved: !declined }, { signal }).catch((error) => {
      throw isDenied(error) ? refused : error;
    });
  }
}

function isDenied(error: unknown): boolean {
  return error instanceof ReeveError && error.reason === "PERMISSION_DENIED";
}
