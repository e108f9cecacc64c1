import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { Question } from "@reeve/contracts/tool";

/** How a person writes the answer to a question. A form is a JSON object with several values. */
export interface AnswerShape {
  readonly kind: "text" | "choice" | "choices" | "value" | "form";
  readonly choices: readonly string[];
}

/** Returns how a person writes the answer to a question. */
export function answerShape({ schema }: Pick<Question, "schema">): AnswerShape {
  const properties = objectOf(schema?.["properties"]);
  const [[name, value] = [], ...others] = Object.entries(properties);
  if (name !== "answer" || others.length > 0) return { kind: "form", choices: [] };
  const field = objectOf(value);
  const choices = textsOf(field["enum"]);
  if (choices.length > 0) return { kind: "choice", choices };
  if (field["type"] === "array") {
    const items = textsOf(objectOf(field["items"])["enum"]);
    return items.length > 0 ? { kind: "choices", choices: items } : { kind: "value", choices: [] };
  }
  return { kind: field["type"] === "string" ? "text" : "value", choices: [] };
}

/** Returns the answer that a person wrote, as words or as numbers of choices, or what is wrong with it. */
export function answerFrom(
  { kind, choices }: AnswerShape,
  words: readonly string[],
): JsonObject | string {
  const text = words.join(" ").trim();
  switch (kind) {
    case "text":
      return text === "" ? "write an answer" : { answer: text };
    case "choice":
      return chosen(choices, text) ?? `choose one of: ${choices.join(", ")}`;
    case "choices": {
      const parts = words.length > 1 ? words : text.split(",");
      const wanted = parts.map((part) => part.trim()).filter((part) => part !== "");
      const found = wanted.flatMap((part) => choiceOf(choices, part) ?? []);
      return found.length === wanted.length && found.length > 0
        ? { answer: found }
        : `choose some of: ${choices.join(", ")}`;
    }
    case "value":
      return valueOf(text) ?? "write a JSON value, for example 2 or true";
    case "form":
      return "write the answer as a JSON object, with --answer";
  }
}

function chosen(choices: readonly string[], text: string): JsonObject | undefined {
  const choice = choiceOf(choices, text);
  return choice === undefined ? undefined : { answer: choice };
}

/** A choice that is itself a number is meant literally. */
function choiceOf(choices: readonly string[], text: string): string | undefined {
  if (choices.includes(text)) return text;
  return /^\d+$/.test(text) ? choices[Number(text) - 1] : undefined;
}

function valueOf(text: string): JsonObject | undefined {
  try {
    // The result of JSON.parse is JSON.
    return { answer: JSON.parse(text) as JsonValue };
  } catch {
    return undefined;
  }
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

function textsOf(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
