import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { compileSchema } from "./compile-schema.ts";

/** Returns the first problem of a value by a JSON Schema, with its path. Undefined: it fits. A schema that is none fits nothing. */
export function valueProblem(schema: JsonObject, value: JsonValue): string | undefined {
  const compiled = compileSchema(schema);
  if (compiled.kind === "invalid") return `the schema is invalid: ${compiled.problem}`;
  // A validator takes any value of JSON.
  const errors = compiled.errorsOf(value as JsonObject);
  if (errors === undefined) return "it takes too much work to check";
  const [first] = errors;
  if (first === undefined) return undefined;
  const path = first.instancePath.slice(1).replaceAll("/", ".");
  return `${path === "" ? "" : `${path} `}${first.message ?? "is not valid"}`;
}
