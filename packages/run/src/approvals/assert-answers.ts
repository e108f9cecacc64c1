import type { JsonObject } from "@bufbuild/protobuf";
import { answerProblems } from "@reeve/agent/schema/answer-problems";
import { isAgentQuestion } from "@reeve/contracts/rules/agent-question";
import type { Approval, Decision } from "@reeve/contracts/approval";
import { ErrorReason } from "@reeve/contracts/error";
import { isStorable } from "@reeve/contracts/rules/nesting";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { argumentViolations } from "./argument-violations.ts";

const field = "answer";

/** Throws a Failure for an answer to an approval without a question, with a rejection, or against the question's schema. */
export function assertAnswers(
  approval: Approval,
  { approved, answer, editedArguments }: Decision,
): void {
  const { approvalId, question } = approval;
  if (question === undefined) {
    if (answer === undefined) return;
    throw invalid(`approval ${approvalId} has no question; leave the answer out`, field);
  }
  if (editedArguments !== undefined) {
    const message = `approval ${approvalId} is a question and has no arguments; send an answer instead`;
    throw invalid(message, "edited_arguments");
  }
  if (!approved) {
    if (answer === undefined) return;
    const message = `the rejection of question ${approvalId} has an answer; send only one of them`;
    throw invalid(message, field);
  }
  if (answer !== undefined && !isStorable(answer)) {
    const message = `the answer to question ${approvalId} is nested too deeply or has malformed text; send a simpler one`;
    throw invalid(message, field);
  }
  const violations = violationsOf(approval, answer ?? {});
  if (violations.length === 0) return;
  const list = violations.map((found) => `${found.field}: ${found.description}`).join("; ");
  const message = `the answer to question ${approvalId} does not match its schema: ${list}`;
  throw new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { violations });
}

/** The schema of an agent's question is bounded, and checked completely; one of an external server as far as that is cheap. */
function violationsOf(approval: Approval, answer: JsonObject): readonly Violation[] {
  const schema = approval.question?.schema ?? {};
  return isAgentQuestion(approval)
    ? answerProblems(schema, answer).map(({ field: path, description }) => ({
        field: path === "" ? field : `${field}.${path}`,
        description,
        reason: "SCHEMA",
      }))
    : argumentViolations(field, answer, schema);
}

function invalid(message: string, field: string): Failure {
  const violations = [{ field, description: "is not accepted here", reason: "CONTRADICTION" }];
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, message, { violations });
}
