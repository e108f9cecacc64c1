import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { isStorable } from "@reeve/contracts/rules/nesting";
import type { Question } from "@reeve/contracts/tool";
import { QuestionSchema } from "@reeve/contracts/tool";
import { schemaProblem } from "@reeve/agent/schema/schema-problem";

const maxMessage = 4_000;
const maxChoices = 50;
const maxChoice = 200;
const maxSchema = 16_384;
const maxLevels = 12;

/** Returns the question that a call of `ask_user` asks, or what is wrong with it, for the model. */
export function questionFor(args: JsonObject): Question | string {
  const message = typeof args["question"] === "string" ? args["question"].trim() : "";
  if (message === "" || message.length > maxMessage) {
    return `a question has 1 to ${maxMessage} characters; this one has ${message.length}`;
  }
  const schema = schemaFor(args);
  return typeof schema === "string"
    ? schema
    : create(QuestionSchema, { questionId: "q1", message, schema, askedBy: "agent" });
}

function schemaFor({ choices, multiple, answer_schema: given }: JsonObject): JsonObject | string {
  if (Array.isArray(choices)) {
    if (isObject(given)) return "a question has choices or an answer_schema, not both";
    const problem = choicesProblem(choices);
    if (problem !== undefined) return problem;
    const one: JsonObject = { type: "string", enum: choices };
    return answer(
      multiple === true ? { type: "array", items: one, maxItems: choices.length } : one,
    );
  }
  if (!isObject(given)) return answer({ type: "string", minLength: 1 });
  return checkedSchema(given);
}

/** Returns the schema of an answer with one value. */
function answer(value: JsonObject): JsonObject {
  return { type: "object", properties: { answer: value }, required: ["answer"] };
}

function choicesProblem(choices: readonly JsonValue[]): string | undefined {
  if (choices.length === 0 || choices.length > maxChoices) {
    return `a question has 1 to ${maxChoices} choices; this one has ${choices.length}`;
  }
  const isUsable = (choice: JsonValue) =>
    typeof choice === "string" && choice.trim() !== "" && choice.length <= maxChoice;
  if (!choices.every(isUsable)) return `each choice is a text of 1 to ${maxChoice} characters`;
  return new Set(choices).size === choices.length ? undefined : "two choices are equal";
}

function checkedSchema(given: JsonObject): JsonObject | string {
  // A client shows the fields of an object. Every other schema is that of one field.
  const schema =
    given["type"] === "object" || isObject(given["properties"]) ? given : answer(given);
  const text = JSON.stringify(schema);
  if (text.length > maxSchema) {
    return `an answer_schema has at most ${maxSchema} characters; this one has ${text.length}`;
  }
  if (!isStorable(schema, maxLevels)) {
    return `an answer_schema is nested at most ${maxLevels} levels deep`;
  }
  if (/"\$(dynamic|recursive)?ref"\s*:/i.test(text)) {
    return "an answer_schema has no references ($ref); write each part where it belongs";
  }
  const problem = schemaProblem(schema);
  return problem === undefined ? { ...schema, type: "object" } : `answer_schema: ${problem}`;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
