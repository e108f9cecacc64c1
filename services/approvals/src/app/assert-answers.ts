import type { Approval, Decision } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { isStorable } from "@reeve/contracts/nesting";
import { Failure } from "@reeve/platform/failure";
import { argumentViolations } from "./argument-violations.ts";

/** Refuses an answer where nothing is asked, one beside a rejection, and one that does not hold to the question. */
export function assertAnswers(
  { approvalId, question }: Approval,
  { approved, answer, editedArguments }: Decision,
): void {
  const field = "answer";
  if (question === undefined) {
    if (answer === undefined) return;
    throw invalid(`approval ${approvalId} asks nothing that could be answered`, field);
  }
  if (editedArguments !== undefined) {
    throw invalid(`question ${approvalId} has no arguments to edit`, "edited_arguments");
  }
  if (!approved) {
    if (answer === undefined) return;
    throw invalid(`question ${approvalId} is either answered or rejected`, field);
  }
  if (answer !== undefined && !isStorable(answer)) {
    throw invalid(`the answer to question ${approvalId} is nested too deeply`, field);
  }
  const violations = argumentViolations(field, answer ?? {}, question.schema ?? {});
  if (violations.length === 0) return;
  const list = violations.map((found) => `${found.field}: ${found.description}`).join("; ");
  const message = `the answer to question ${approvalId} does not fit it: ${list}`;
  throw new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { violations });
}

function invalid(message: string, field: string): Failure {
  const violations = [{ field, description: "is not taken here", reason: "CONTRADICTION" }];
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { violations });
}
