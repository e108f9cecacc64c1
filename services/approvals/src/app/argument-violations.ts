import type { JsonObject } from "@bufbuild/protobuf";
import type { Violation } from "@reeve/platform/failure";
import type { ErrorObject } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";

/** Characters of a schema as JSON. */
const maxCharacters = 100_000;
/** Keywords whose check may take longer than anybody waits: schemas come from servers of others. */
const costly = ["pattern", "patternProperties", "uniqueItems"];

/**
 * What is wrong with the arguments that stand in `field`, by the schema of their tool; nothing when they fit. Only what
 * takes no time to check is checked, and a schema that is none, is very long or refers to parts of itself refuses nothing:
 * the worker of the run looks at everything before the call.
 */
export function argumentViolations(
  field: string,
  args: JsonObject,
  inputSchema: JsonObject,
): readonly Violation[] {
  // Older dialects differ in nothing that matters for arguments; their `$schema` would only be refused.
  const { $schema: _dialect, $async: _async, ...schema } = inputSchema;
  const text = JSON.stringify(schema);
  if (text.length > maxCharacters || /"\$(dynamic|recursive)?ref"/i.test(text)) return [];
  try {
    const validate = quickAjv().compile(schema);
    if (validate(args)) return [];
    return (validate.errors ?? []).map((error) => violation(field, error));
  } catch {
    return [];
  }
}

function quickAjv(): Ajv2020 {
  // Where a keyword asks which names a pattern covers, it covers all of them.
  const everything = Object.assign(() => ({ test: () => true }), { code: "everything" });
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    validateFormats: false,
    // The schema of schemas asks for what is left out here.
    validateSchema: false,
    logger: false,
    code: { regExp: everything },
  });
  for (const keyword of costly) ajv.removeKeyword(keyword);
  return ajv;
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
