import type { JsonObject } from "@bufbuild/protobuf";
import { compileSchema } from "@reeve/agent/schema/compile-schema";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import type { ErrorObject } from "ajv";

/** How many problems one result lists. */
const maxProblems = 20;

/** Returns the problems of a call's arguments by the schema of its tool; none if they fit. */
export function argumentProblems(tool: ToolDescriptor, args: JsonObject): readonly string[] {
  if (tool.inputSchema === undefined) return [];
  const compiled = compileSchema(tool.inputSchema);
  // An invalid schema accepts everything: refusing every call would help no one.
  if (compiled.kind === "invalid") return [];
  const errors = compiled.errorsOf(args);
  if (errors === undefined) return ["they take too much work to check; make them smaller"];
  const more = errors.length - maxProblems;
  const listed = errors.slice(0, maxProblems).map(descriptionOf);
  return more > 0 ? [...listed, `and ${more} more`] : listed;
}

function descriptionOf({ instancePath, message = "is not valid", params }: ErrorObject): string {
  const where = instancePath.slice(1).replaceAll("/", ".");
  const allowed: unknown = params["allowedValues"];
  const values = Array.isArray(allowed) ? `: ${allowed.join(", ")}` : "";
  return `${where === "" ? "" : `${where} `}${message}${values}`;
}
