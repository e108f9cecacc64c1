import type { JsonObject } from "@bufbuild/protobuf";
import type { Violation } from "@reeve/platform/failure";
import type { ErrorObject } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";

/** The maximum length of a schema as JSON, in characters. */
const maxCharacters = 100_000;
/** Keywords that can take unbounded time to check. The schemas come from external servers. */
const costlyKeywords = ["pattern", "patternProperties", "uniqueItems"];

/**
 * Checks arguments against the schema of their tool, and returns the violations, with paths below `field`. Skips keywords that
 * are slow to check, and accepts everything for a schema that is invalid, very long, or has references: the worker of the run
 * checks the arguments completely before the call.
 */
export function argumentViolations(
  field: string,
  args: JsonObject,
  inputSchema: JsonObject,
): readonly Violation[] {
  // Without `$schema`, older dialects are accepted. For arguments they do not differ.
  const { $schema: _dialect, $async: _async, ...schema } = inputSchema;
  const text = JSON.stringify(schema);
  if (text.length > maxCharacters || /"\$(dynamic|recursive)?ref"/i.test(text)) return [];
  try {
    const validate = boundedAjv().compile(schema);
    if (validate(args)) return [];
    return (validate.errors ?? []).map((error) => violation(field, error));
  } catch {
    return [];
  }
}

/** Returns a validator without the costly keywords. */
function boundedAjv(): Ajv2020 {
  // For keywords that use patterns to select names: every pattern matches everything.
  const everything = Object.assign(() => ({ test: () => true }), { code: "everything" });
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    validateFormats: false,
    // The meta-schema uses the keywords that are removed here.
    validateSchema: false,
    logger: false,
    code: { regExp: everything },
  });
  for (const keyword of costlyKeywords) ajv.removeKeyword(keyword);
  return ajv;
}

function violation(field: string, { instancePath, message, params }: ErrorObject): Violation {
  const extra: unknown = params["additionalProperty"];
  return {
    field: `${field}${instancePath.replaceAll("/", ".")}`,
    description:
      typeof extra === "string" ? `unknown argument ${extra}` : (message ?? "is not valid"),
    reason: "SCHEMA",
  };
}
