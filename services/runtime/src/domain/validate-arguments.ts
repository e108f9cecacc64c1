import type { JsonObject } from "@bufbuild/protobuf";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import type { ValidateFunction } from "ajv";
import { Ajv } from "ajv";

/** What is wrong with the arguments of a call, by the tool's own schema; nothing when they fit. */
export function argumentProblems(tool: ToolDescriptor, args: JsonObject): readonly string[] {
  const { inputSchema } = tool;
  if (inputSchema === undefined) return [];
  const compiled = compile(inputSchema);
  // A schema that is none validates nothing: refusing every call would help nobody.
  if (compiled.kind === "broken" || compiled.validate(args)) return [];
  return (compiled.validate.errors ?? []).map(
    ({ instancePath, message = "is not valid", params }) => {
      const where = instancePath.slice(1).replaceAll("/", ".");
      const allowed: unknown = params["allowedValues"];
      const values = Array.isArray(allowed) ? `: ${allowed.join(", ")}` : "";
      return `${where === "" ? "" : `${where} `}${message}${values}`;
    },
  );
}

/** Why something is no JSON Schema; undefined when it is one. */
export function schemaProblem(schema: JsonObject): string | undefined {
  const compiled = compile(schema);
  return compiled.kind === "broken" ? compiled.problem : undefined;
}

type Compiled =
  | { readonly kind: "works"; readonly validate: ValidateFunction }
  | { readonly kind: "broken"; readonly problem: string };

const known = new Map<string, Compiled>();
const mostKnown = 1000;

function compile(schema: JsonObject): Compiled {
  const key = JSON.stringify(schema);
  const before = known.get(key);
  if (before !== undefined) return before;
  const compiled = compileAfresh(schema);
  if (known.size >= mostKnown) known.clear();
  known.set(key, compiled);
  return compiled;
}

/** Each with a validator of its own: one schema's `$id` must not meet another's, of another agent even. */
function compileAfresh(schema: JsonObject): Compiled {
  try {
    const ajv = new Ajv({ allErrors: true, strict: false, logger: false });
    return { kind: "works", validate: ajv.compile(schema) };
  } catch (error) {
    return { kind: "broken", problem: error instanceof Error ? error.message : String(error) };
  }
}
