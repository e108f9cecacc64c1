import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { fromJson, ScalarType } from "@bufbuild/protobuf";
import type { Violation } from "@reeve/platform/failure";

/**
 * Returns everything that prevents `json` from being a message of `schema`: unknown fields, and values of the wrong type. The
 * library's own reader stops at the first error.
 */
export function checkShape(
  schema: DescMessage,
  json: JsonObject,
  path: string,
): readonly Violation[] {
  return Object.entries(json).flatMap(([key, value]) => {
    const field = schema.fields.find(({ name, jsonName }) => name === key || jsonName === key);
    const at = path === "" ? key : `${path}.${key}`;
    if (field === undefined) {
      return [{ field: at, description: unknownField(schema, key), reason: "UNKNOWN_FIELD" }];
    }
    if (key !== field.name && Object.hasOwn(json, field.name)) {
      const description = `is another spelling of ${field.name}, which is present too`;
      return [{ field: at, description, reason: "DUPLICATE_FIELD" }];
    }
    return value === null ? [] : checkField(field, value, at);
  });
}

function checkField(field: DescField, value: JsonValue, path: string): readonly Violation[] {
  switch (field.fieldKind) {
    case "message":
      return checkMessage(field.message, value, path);
    case "list":
      if (!Array.isArray(value)) return [mistyped(path, "a list")];
      return value.flatMap((item, index) => checkItem(field, item, `${path}[${index}]`));
    case "map":
      if (!isObject(value)) return [mistyped(path, "a mapping")];
      return Object.entries(value).flatMap(([key, item]) =>
        checkItem(field, item, `${path}[${JSON.stringify(key)}]`),
      );
    case "scalar":
      return checkScalar(field.scalar, value, path);
    case "enum":
      return typeof value === "string" || typeof value === "number"
        ? []
        : [mistyped(path, "a name")];
  }
}

function checkItem(
  field: Extract<DescField, { fieldKind: "list" | "map" }>,
  value: JsonValue,
  path: string,
): readonly Violation[] {
  const { message, scalar } = field;
  if (message !== undefined) return checkMessage(message, value, path);
  return scalar === undefined ? [] : checkScalar(scalar, value, path);
}

function checkMessage(message: DescMessage, value: JsonValue, path: string): readonly Violation[] {
  if (message.typeName.startsWith("google.protobuf.")) {
    try {
      fromJson(message, value);
      return [];
    } catch {
      return [mistyped(path, wellKnown[message.name] ?? `a ${message.name}`)];
    }
  }
  return isObject(value) ? checkShape(message, value, path) : [mistyped(path, "a mapping")];
}

const wellKnown: Readonly<Record<string, string>> = {
  Duration: 'a duration in seconds, such as "30s"',
  ListValue: "a list",
  Struct: "a mapping",
};

function checkScalar(scalar: ScalarType, value: JsonValue, path: string): readonly Violation[] {
  switch (scalar) {
    case ScalarType.STRING:
      return typeof value === "string" ? [] : [mistyped(path, "a string")];
    case ScalarType.BOOL:
      return typeof value === "boolean" ? [] : [mistyped(path, "true or false")];
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return Number.isFinite(value) ? [] : [mistyped(path, "a number")];
    default:
      return typeof value === "number" && Number.isInteger(value) && value >= 0 && value < 2 ** 32
        ? []
        : [mistyped(path, "a non-negative integer")];
  }
}

function mistyped(field: string, expected: string): Violation {
  return { field, description: `must be ${expected}`, reason: "MISTYPED" };
}

function unknownField(schema: DescMessage, key: string): string {
  const near = schema.fields.find(({ name }) => name.replaceAll("_", "") === key.toLowerCase());
  return near === undefined ? "unknown field" : `unknown field; did you mean ${near.name}?`;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
