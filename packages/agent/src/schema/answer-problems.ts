import type { JsonObject } from "@bufbuild/protobuf";
import { compileSchema } from "./compile-schema.ts";

/** How many problems are listed. */
const maxProblems = 10;

/** Returns where and how an answer to a question does not match the schema of the question. Empty if it matches, or the schema is invalid. */
export function answerProblems(
  schema: JsonObject,
  answer: JsonObject,
): readonly { readonly field: string; readonly description: string }[] {
  const compiled = compileSchema(schema);
  // No client can answer a question with an invalid schema, which the worker of the run refuses to ask.
  if (compiled.kind === "invalid") return [];
  const errors = compiled.errorsOf(answer);
  if (errors === undefined)
    return [{ field: "", description: "takes too much work to check; make it smaller" }];
  return errors.slice(0, maxProblems).map(({ instancePath, message = "is not valid", params }) => {
    const allowed: unknown = params["allowedValues"];
    const values = Array.isArray(allowed) ? `: ${allowed.join(", ")}` : "";
    return {
      field: instancePath.slice(1).replaceAll("/", "."),
      description: `${message}${values}`,
    };
  });
}
