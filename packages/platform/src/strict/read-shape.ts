import type { DescField, DescMessage, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { fromJson, ScalarType } from "@bufbuild/protobuf";
import type { Violation } from "../failure.ts";
import { shortened } from "../list-violations.ts";
import { defaultOf, expectedOf } from "./expected-value.ts";
import { similarField } from "./similar-field.ts";

/** What a message can hold of a JSON object, and everything that it cannot. */
export interface Shape {
  /** The object without unknown fields and values of the wrong type. The positions in its lists are those of the original. */
  readonly json: JsonObject;
  /** Unknown fields, fields that are present twice, and values of the wrong type, each with its path. */
  readonly violations: readonly Violation[];
  /** The fields that are present although the contract says that they are ignored, each with its path. At most 100. */
  readonly ignored: readonly string[];
}

export interface ShapeOptions {
  /**
   * What null means in a field that cannot hold it: that the field is unset, as in requests, or a violation, for files in which a
   * value must not vanish silently. Default: `unset`.
   */
  readonly nulls?: "unset" | "refused";
}

/** The maximum length of a path: a name is as long as the client makes it. */
const maxPath = 500;
/** How many violations of its shape one object reports. */
const maxViolations = 100;
/** How many entries a map of a request may have. */
const maxEntries = 1_000;

/** Above the depth limit of requests, so that the validation, not the parser, refuses a deep value and gives the reason. */
const readDeep = { recursionLimit: 1_000 };

/**
 * Compares `json` with the JSON mapping of a message, with names in snake_case or camelCase. Finds everything that the library's
 * own reader would refuse; that reader stops at the first error.
 */
export function readShape(
  schema: DescMessage,
  json: JsonObject,
  { nulls = "unset" }: ShapeOptions = {},
): Shape {
  const reader = new ShapeReader(nulls);
  const { violations, ignored } = reader;
  return { json: reader.message(schema, json, ""), violations, ignored };
}

class ShapeReader {
  readonly violations: Violation[] = [];
  readonly ignored: string[] = [];
  readonly #nulls: "unset" | "refused";

  constructor(nulls: "unset" | "refused") {
    this.#nulls = nulls;
  }

  message(schema: DescMessage, json: JsonObject, path: string): JsonObject {
    const kept: [string, JsonValue][] = [];
    const groups = new Map<string, string>();
    for (const key of Object.keys(json)) {
      // The request is refused in any case: the rest of a large object costs nothing.
      if (this.#isFull()) break;
      const value = json[key] ?? null;
      // The contract says of a reserved name that its value is ignored.
      if (schema.proto.reservedName.includes(key)) {
        if (this.ignored.length < maxViolations) this.ignored.push(joined(path, key));
        continue;
      }
      const field = schema.fields.find(({ name, jsonName }) => name === key || jsonName === key);
      const problem = field === undefined ? unknown(schema, key) : repeated(field, key, json);
      if (field === undefined || problem !== undefined) {
        this.#report(joined(path, key), problem);
        continue;
      }
      const at = joined(path, field.name);
      if (value === null && !acceptsNull(field)) {
        if (this.#nulls === "refused") this.#report(at, withoutValue);
        continue;
      }
      const group = field.oneof && groups.get(field.oneof.name);
      if (group !== undefined) {
        this.#report(at, ["DUPLICATE_FIELD", `excludes ${group}, which is present too`]);
        continue;
      }
      if (field.oneof !== undefined) groups.set(field.oneof.name, field.name);
      const valid = this.#field(field, value, at);
      if (valid !== undefined) kept.push([key, valid]);
    }
    return Object.fromEntries(kept);
  }

  #field(field: DescField, value: JsonValue, path: string): JsonValue | undefined {
    switch (field.fieldKind) {
      case "list":
        if (!Array.isArray(value)) return this.#mistyped(path, "a list");
        // An item of the wrong type is replaced, not removed, so that the others keep their indexes.
        return value.map((item, index) =>
          this.#isFull()
            ? defaultOf(field)
            : (this.#one(field, item, `${path}[${index}]`) ?? defaultOf(field)),
        );
      case "map":
        return isObject(value) ? this.#map(field, value, path) : this.#mistyped(path, "a mapping");
      case "message":
      case "scalar":
      case "enum":
        return this.#one(field, value, path);
    }
  }

  #map(
    field: Extract<DescField, { fieldKind: "map" }>,
    entries: JsonObject,
    path: string,
  ): JsonObject {
    const { length } = Object.keys(entries);
    if (length > maxEntries) {
      this.#report(path, ["TOO_MANY_ENTRIES", `has ${length} entries; the limit is ${maxEntries}`]);
      return {};
    }
    const kept = Object.entries(entries).flatMap(([key, item]): readonly [string, JsonValue][] => {
      if (this.#isFull()) return [];
      const at = `${path}[${JSON.stringify(key)}]`;
      const valid = this.#one(field, item, at);
      return valid === undefined ? [] : [[key, valid]];
    });
    return Object.fromEntries(kept);
  }

  /** Reads a value of a field, or one of its items. */
  #one(field: DescField, value: JsonValue, path: string): JsonValue | undefined {
    const { message } = field;
    if (message !== undefined && !message.typeName.startsWith("google.protobuf.")) {
      return isObject(value)
        ? this.message(message, value, path)
        : this.#mistyped(path, "a mapping");
    }
    return hasCommonType(field, value) || isReadable(field, value)
      ? value
      : this.#mistyped(path, expectedOf(field));
  }

  #mistyped(path: string, expected: string): undefined {
    this.#report(path, ["MISTYPED", `must be ${expected}`]);
  }

  #isFull(): boolean {
    return this.violations.length >= maxViolations;
  }

  #report(field: string, [reason, description]: Problem = ["", ""]): void {
    this.violations.push({ field: shortened(field, maxPath), description, reason });
  }
}

type Problem = readonly [reason: string, description: string];

const withoutValue: Problem = ["MISTYPED", "has no value; set one, or leave it out"];

function unknown(schema: DescMessage, key: string): Problem {
  const near = similarField(schema, key);
  return [
    "UNKNOWN_FIELD",
    near === undefined ? "unknown field" : `unknown field; did you mean ${near.name}?`,
  ];
}

function repeated({ name }: DescField, key: string, json: JsonObject): Problem | undefined {
  return key !== name && Object.hasOwn(json, name)
    ? ["DUPLICATE_FIELD", `is another spelling of ${name}, which is present too`]
    : undefined;
}

/** Null means that a field is unset, except in a field that can hold any value. */
function acceptsNull({ fieldKind, message }: DescField): boolean {
  return fieldKind === "message" && message.typeName === "google.protobuf.Value";
}

/** Whether a value has the type that most clients send, which needs no reader. */
function hasCommonType({ enum: names, scalar }: DescField, value: JsonValue): boolean {
  if (names !== undefined) return names.values.some(({ name }) => name === value);
  switch (scalar) {
    case ScalarType.STRING:
      return typeof value === "string";
    case ScalarType.BOOL:
      return typeof value === "boolean";
    case ScalarType.UINT32:
      return typeof value === "number" && Number.isInteger(value) && value >= 0 && value < 2 ** 32;
    default:
      return false;
  }
}

/** Whether the library's reader accepts a value of a field, or one of its items. */
function isReadable(field: DescField, value: JsonValue): boolean {
  const wrapped =
    field.fieldKind === "list" ? [value] : field.fieldKind === "map" ? { "0": value } : value;
  try {
    fromJson(field.parent, { [field.name]: wrapped }, readDeep);
    return true;
  } catch {
    return false;
  }
}

function joined(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
