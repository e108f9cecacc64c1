import type { JsonObject } from "@bufbuild/protobuf";
import { Validator } from "@cfworker/json-schema";

export interface CheckedArguments {
  /** Undefined: the text is not a valid object. */
  readonly value: JsonObject | undefined;
  readonly problems: readonly string[];
}

const maxProblems = 8;

/** Reads a JSON object from text, and checks it against a JSON Schema, if there is one. */
export function checkArguments(text: string, schema: JsonObject | undefined): CheckedArguments {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { value: undefined, problems: [error instanceof Error ? error.message : "not JSON"] };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { value: undefined, problems: ["the arguments must be a JSON object"] };
  }
  const problems = schema === undefined ? [] : problemsOf(value, schema);
  // JSON.parse returns no other objects.
  return { value: problems.length === 0 ? (value as JsonObject) : undefined, problems };
}

/** Interprets the schema: generated code would need a weaker Content-Security-Policy. */
function problemsOf(value: object, schema: JsonObject): readonly string[] {
  const { errors } = new Validator(schema, "2020-12", false).validate(value);
  const leaves = errors.filter(({ keyword }) => keyword !== "properties" && keyword !== "$ref");
  return leaves
    .slice(0, maxProblems)
    .map(
      ({ instanceLocation, error }) =>
        `${instanceLocation.replace(/^#\/?/, "") || "arguments"}: ${error}`,
    );
}
