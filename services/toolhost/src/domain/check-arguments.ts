import type { JsonObject } from "@bufbuild/protobuf";
import type { ErrorObject, ValidateFunction } from "ajv";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";

/** Says what is wrong with the arguments of a call, or undefined when nothing is. */
export type ArgumentCheck = (args: JsonObject) => string | undefined;

/** A check of arguments against a JSON Schema. A schema that is none checks nothing: the tool itself then decides. */
export function argumentCheck(schema: JsonObject | undefined): ArgumentCheck {
  return (args) => {
    const validate = validatorOf(schema);
    if (validate === undefined || validate(args)) return undefined;
    return (validate.errors ?? []).map(describe).join("; ");
  };
}

/** Whether this is a JSON Schema that we can check by, of an object. */
export function isObjectSchema(schema: JsonObject): boolean {
  return schema["type"] === "object" && validatorOf(schema) !== undefined;
}

/** Compiling a schema costs more than all the rest of a call; a schema belongs to its tool and is compiled once. */
const validators = new WeakMap<JsonObject, ValidateFunction | null>();

function validatorOf(schema: JsonObject | undefined): ValidateFunction | undefined {
  if (schema === undefined) return undefined;
  const known = validators.get(schema);
  if (known !== undefined) return known ?? undefined;
  const validate = compiled(schema);
  validators.set(schema, validate ?? null);
  return validate;
}

function compiled(schema: JsonObject): ValidateFunction | undefined {
  // What is no schema of the newest dialect, as one with a list of `items`, may be one of an older.
  const { $schema: _dialect, $async: _async, ...rest } = schema;
  const options = {
    strict: false,
    logger: false,
    allErrors: true,
    validateFormats: false,
  } as const;
  for (const Dialect of [Ajv2020, Ajv]) {
    try {
      return new Dialect(options).compile(rest);
    } catch {
      continue;
    }
  }
  return undefined;
}

function describe({ instancePath, message, params }: ErrorObject): string {
  const where = instancePath === "" ? "the arguments" : instancePath.slice(1).replaceAll("/", ".");
  const extra: unknown = params["additionalProperty"];
  return typeof extra === "string" ? `there is no argument ${extra}` : `${where} ${message ?? ""}`;
}
