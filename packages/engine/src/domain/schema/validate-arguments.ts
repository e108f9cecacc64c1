import type { JsonObject } from "@bufbuild/protobuf";
import { compileSchema } from "@reeve/agent/schema/compile-schema";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import type { ErrorObject } from "ajv";

/** How many problems a model is told of at once. */
const maxProblems = 20;

/** What is wrong with the arguments of a call, by the tool's own schema; nothing when they fit. */
export function argumentProblems(tool: ToolDescriptor, args: JsonObject): readonly string[] {
  if (tool.inputSchema === undefined) return [];
  const compiled = compileSchema(tool.inputSchema);
  // A schema that is none validates nothing: refusing every call would help nobody.
  if (compiled.kind === "invalid") return [];
  const errors = compiled.errorsOf(args);
  if (errors === undefined) return ["they take too much work to check; make them smaller"];
  const more = errors.length - maxProblems;
  const told = errors.slice(0, maxProblems).map(wordsOf);
  return more > 0 ? [...told, `and ${more} more`] : told;
}

/** Why something is no JSON Schema that can be held to in full; undefined when it is one. */
export function schemaProblem(schema: JsonObject): string | undefined {
  const compiled = compileSchema(schema);
  if (compiled.kind === "invalid") return compiled.problem;
  const [pattern] = compiled.unsupported;
  return pattern === undefined
    ? undefined
    : `the pattern ${JSON.stringify(pattern)} cannot be matched in linear time; do without look-around, references back and large repetitions`;
}

function wordsOf({ instancePath, message = "is not valid", params }: ErrorObject): string {
  const where = instancePath.slice(1).replaceAll("/", ".");
  const allowed: unknown = params["allowedValues"];
  const values = Array.isArray(allowed) ? `: ${allowed.join(", ")}` : "";
  return `${where === "" ? "" : `${where} `}${message}${values}`;
}
