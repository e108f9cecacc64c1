import type { JsonObject } from "@bufbuild/protobuf";
import type { Violation } from "@reeve/platform/failure";
import type { ErrorObject } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";

/**
 * What is wrong with the arguments that stand in `field`, by the schema of their tool; nothing when they fit. A schema that
 * is none refuses nothing: the tool itself then decides.
 */
export function argumentViolations(
  field: string,
  args: JsonObject,
  inputSchema: JsonObject,
): readonly Violation[] {
  // Older dialects differ in nothing that matters for arguments; their `$schema` would only be refused.
  const { $schema: _dialect, ...schema } = inputSchema;
  try {
    const ajv = new Ajv2020({
      strict: false,
      allErrors: true,
      validateFormats: false,
      logger: false,
    });
    const validate = ajv.compile(schema);
    if (validate(args)) return [];
    return (validate.errors ?? []).map((error) => violation(field, error));
  } catch {
    return [];
  }
}

function violation(field: string, { instancePath, message, params }: ErrorObject): Violation {
  const extra: unknown = params["additionalProperty"];
  return {
    field: `${field}${instancePath.replaceAll("/", ".")}`,
    description:
      typeof extra === "string" ? `there is no argument ${extra}` : (message ?? "is not valid"),
    reason: "SCHEMA",
  };
}
