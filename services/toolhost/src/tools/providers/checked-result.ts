import { answerProblems } from "@reeve/agent/schema/answer-problems";
import type { CallResult } from "@reeve/calls/ports/tool";
import type { ToolDescriptor } from "@reeve/contracts/tool";

/**
 * Returns a result as it is if it is an error, or matches the output schema of its tool. Returns an error that names the problems
 * otherwise: the nodes of workflows rely on the schema.
 */
export function checkedResult(
  { name, outputSchema }: Pick<ToolDescriptor, "name" | "outputSchema">,
  result: CallResult,
): CallResult {
  if (outputSchema === undefined || result.isError) return result;
  const { structured } = result;
  const problems =
    structured === undefined
      ? ["it has no structured form"]
      : answerProblems(outputSchema, structured).map(({ field, description }) =>
          field === "" ? description : `${field} ${description}`,
        );
  if (problems.length === 0) return result;
  const content = `${name} was executed, but its result does not match its output schema: ${problems.join("; ")}`;
  return { content, isError: true };
}
