import type { JsonObject } from "@bufbuild/protobuf";
import { isStorable } from "@reeve/contracts/rules/nesting";
import { compileSchema } from "./compile-schema.ts";
import { objectSchema } from "./object-schema.ts";

/** Returns why a JSON Schema is invalid or cannot be enforced completely; undefined if it can. */
export function schemaProblem(schema: JsonObject): string | undefined {
  const compiled = compileSchema(schema);
  if (compiled.kind === "invalid") return compiled.problem;
  const [pattern] = compiled.unsupported;
  return pattern === undefined
    ? undefined
    : `the pattern ${JSON.stringify(pattern)} cannot be matched in linear time; avoid look-around, back-references, and large repetitions`;
}

/** Returns why a schema cannot be that of an answer, as the arguments of a tool: its problems are among those of their schema. */
export function answerSchemaProblem(schema: JsonObject): string | undefined {
  return schemaProblem(objectSchema(schema));
}

const maxBytes = 65_536;
/** How deep the schema of an answer may be nested: the log of the run stores it. */
const maxLevels = 20;

/** Returns why a schema cannot be that of an answer: the arguments of the tool that ends the run. Undefined: it can. */
export function outputSchemaProblem(schema: JsonObject): string | undefined {
  const bytes = new TextEncoder().encode(JSON.stringify(schema)).length;
  if (bytes > maxBytes) return `has ${bytes} bytes, more than the maximum of ${maxBytes}`;
  if (!isStorable(schema, maxLevels)) {
    return `is nested deeper than ${maxLevels} levels, or has a number or text that JSON cannot hold`;
  }
  const problem = answerSchemaProblem(schema);
  return problem === undefined ? undefined : `is not a valid JSON Schema: ${problem}`;
}
