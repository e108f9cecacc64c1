import type { JsonObject } from "@bufbuild/protobuf";
import type { ToolDescriptor } from "@reeve/contracts/tool";
import type { ValidateFunction } from "ajv";
import { Ajv } from "ajv";

/** What is wrong with the arguments of a call, by the tool's own schema; nothing when they fit. */
export function argumentProblems(tool: ToolDescriptor, args: JsonObject): readonly string[] {
  const validate = validatorOf(tool.inputSchema);
  if (validate === undefined || validate(args)) return [];
  return (validate.errors ?? []).map(({ instancePath, message = "is not valid" }) =>
    instancePath === "" ? message : `${instancePath.slice(1).replaceAll("/", ".")} ${message}`,
  );
}

const ajv = new Ajv({ allErrors: true, strict: false, logger: false });
const compiled = new Map<string, ValidateFunction | undefined>();
const mostCompiled = 1000;

/** The validator of a schema. A schema that is none validates nothing: refusing every call would help nobody. */
function validatorOf(schema: JsonObject | undefined): ValidateFunction | undefined {
  if (schema === undefined) return undefined;
  const key = JSON.stringify(schema);
  if (!compiled.has(key)) {
    if (compiled.size >= mostCompiled) compiled.clear();
    compiled.set(key, compile(schema));
  }
  return compiled.get(key);
}

function compile(schema: JsonObject): ValidateFunction | undefined {
  try {
    return ajv.compile(schema);
  } catch {
    return undefined;
  }
}
