import type { JsonObject } from "@bufbuild/protobuf";
import { compileSchema } from "@reeve/agent/schema/compile-schema";
import type { ErrorObject } from "ajv";

/** Returns what is wrong with the arguments of a call. Undefined: they are valid. */
export type ArgumentCheck = (args: JsonObject) => string | undefined;

/**
 * Returns a check of arguments against a JSON Schema, whose running time is bounded for every schema and every argument. An
 * invalid schema accepts everything: the tool itself then decides.
 */
export function argumentCheck(schema: JsonObject | undefined): ArgumentCheck {
  return (args) => {
    const compiled = schema && compileSchema(schema);
    if (compiled?.kind !== "compiled") return undefined;
    const errors = compiled.errorsOf(args);
    if (errors === undefined) return "they take too much work to check; make them smaller";
    return errors.length === 0 ? undefined : errors.map(describe).join("; ");
  };
}

/** Whether this is a JSON Schema of an object: a valid one, or a well-formed one that takes too much work to compile, and is not enforced. */
export function isObjectSchema(schema: JsonObject): boolean {
  if (schema["type"] !== "object") return false;
  const compiled = compileSchema(schema);
  return compiled.kind === "compiled" || compiled.isCostly === true;
}

function describe({ instancePath, message, params }: ErrorObject): string {
  const where = instancePath === "" ? "the arguments" : instancePath.slice(1).replaceAll("/", ".");
  const extra: unknown = params["additionalProperty"];
  return typeof extra === "string" ? `there is no argument ${extra}` : `${where} ${message ?? ""}`;
}
