import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { valueProblem } from "@reeve/agent/schema/value-problem";
import type { Client } from "@reeve/client";
import type { Grader } from "./eval-file.ts";
import type { Grade, GradedAnswer } from "./graded-answer.ts";
import { gradeByCode } from "./grade-by-code.ts";
import type { GradeLimits } from "./grade-by-model.ts";
import { gradeByModel } from "./grade-by-model.ts";

/** Grades an answer. A grader with a model or with code starts a run of its own. */
export async function grade(
  reeve: Client,
  grader: Grader,
  answer: GradedAnswer,
  limits: GradeLimits,
): Promise<Grade> {
  const { output } = answer;
  const name = nameOf(grader);
  const graded = (passed: boolean, detail: string) => ({
    name,
    passed,
    detail: passed ? "" : detail,
  });
  if ("contains" in grader) return graded(output.includes(grader.contains), "is not in the answer");
  if ("not_contains" in grader) {
    return graded(!output.includes(grader.not_contains), "is in the answer");
  }
  if ("matches" in grader) {
    return graded(new RegExp(grader.matches, "u").test(output), "does not match the answer");
  }
  if ("json_schema" in grader) {
    const problem = schemaProblem(grader.json_schema, output);
    return graded(problem === undefined, problem ?? "");
  }
  if ("code" in grader) return { name, ...(await gradeByCode(reeve, grader.code, answer, limits)) };
  return { name, ...(await gradeByModel(reeve, grader.model, answer, limits)) };
}

function schemaProblem(schema: JsonObject, output: string): string | undefined {
  let value: JsonValue;
  try {
    // What a JSON text holds is a JSON value.
    value = JSON.parse(output) as JsonValue;
  } catch {
    return "the answer is no JSON";
  }
  return valueProblem(schema, value);
}

function nameOf(grader: Grader): string {
  if ("model" in grader) return `model ${grader.model.agent}: ${shortened(grader.model.rubric)}`;
  if ("code" in grader) return `code ${grader.code.name}`;
  if ("json_schema" in grader) return "json_schema";
  if ("matches" in grader) return `matches /${shortened(grader.matches)}/`;
  if ("contains" in grader) return `contains ${JSON.stringify(shortened(grader.contains))}`;
  return `not_contains ${JSON.stringify(shortened(grader.not_contains))}`;
}

function shortened(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 59)}…`;
}
