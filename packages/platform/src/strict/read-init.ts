import type { DescField, DescMessage, JsonValue } from "@bufbuild/protobuf";
import { create, fromJson } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import type { ListValue } from "@bufbuild/protobuf/wkt";
import { ListValueSchema } from "@bufbuild/protobuf/wkt";
import type { Violation } from "../failure.ts";
import { shortened } from "../list-violations.ts";
import { defaultOf, expectedOf } from "./expected-value.ts";
import { similarField } from "./similar-field.ts";

/** What a message can hold of an object from which it is created, and everything that it cannot. */
export interface ReadInit {
  /** The object without unknown properties and values of the wrong type. The positions in its lists are those of the original. */
  readonly init: Readonly<Record<string, unknown>>;
  /** Unknown properties and values of the wrong type, each with its path in the contract. */
  readonly violations: readonly Violation[];
}

/** The maximum length of a path: the key of a map has any length. */
const maxPath = 500;

/**
 * Compares an object with the message that `create` would create from it. `create` ignores unknown properties and checks no
 * types, so a misspelled property would have no effect.
 */
export function readInit(schema: DescMessage, init: object): ReadInit {
  const reader = new InitReader();
  return { init: reader.message(schema, init, "") ?? {}, violations: reader.violations };
}

class InitReader {
  readonly violations: Violation[] = [];

  message(
    schema: DescMessage,
    init: object,
    path: string,
  ): Readonly<Record<string, unknown>> | undefined {
    const kept: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(init)) {
      if (value === undefined || value === null || key.startsWith("$")) continue;
      const member = schema.members.find(({ localName }) => localName === key);
      const at = joined(path, member?.name ?? key);
      if (member === undefined) this.#unknown(schema, key, at);
      else if (member.kind === "field") kept[key] = this.#field(member, value, at);
      else kept[key] = this.#oneof(member.fields, value, path);
    }
    return kept;
  }

  #oneof(fields: readonly DescField[], value: unknown, path: string): unknown {
    const { case: name, value: inner } = Object(value);
    const field = fields.find(({ localName }) => localName === name);
    if (field !== undefined) {
      const kept = this.#field(field, inner, joined(path, field.name));
      return kept === undefined ? undefined : { case: name, value: kept };
    }
    if (name !== undefined)
      this.#report(joined(path, String(name)), "UNKNOWN_FIELD", "unknown field");
    return undefined;
  }

  #field(field: DescField, value: unknown, path: string): unknown {
    switch (field.fieldKind) {
      case "list":
        if (!Array.isArray(value)) return this.#mistyped(path, "a list");
        // An item of the wrong type is replaced, not removed, so that the others keep their indexes.
        return value.map(
          (item: unknown, index) => this.#one(field, item, `${path}[${index}]`) ?? defaultOf(field),
        );
      case "map":
        if (!isObject(value)) return this.#mistyped(path, "a mapping");
        return Object.fromEntries(
          Object.entries(value).flatMap(([key, item]) => {
            const kept = this.#one(field, item, `${path}[${JSON.stringify(key)}]`);
            return kept === undefined ? [] : [[key, kept]];
          }),
        );
      case "message":
      case "scalar":
      case "enum":
        return this.#one(field, value, path);
    }
  }

  /** Reads a value of a field, or one of its items. */
  #one(field: DescField, value: unknown, path: string): unknown {
    const { message } = field;
    if (message?.typeName === ListValueSchema.typeName && Array.isArray(value)) {
      return listOf(value) ?? this.#mistyped(path, "a list of JSON values");
    }
    // Any mapping is a Struct.
    if (message !== undefined && message.typeName !== "google.protobuf.Struct") {
      return isObject(value)
        ? this.message(message, value, path)
        : this.#mistyped(path, expectedOf(field));
    }
    return isHeld(field, value) ? value : this.#mistyped(path, expectedOf(field));
  }

  #unknown(schema: DescMessage, key: string, path: string): void {
    const near = similarField(schema, key);
    const hint = near === undefined ? "" : `; did you mean ${near.localName}?`;
    this.#report(path, "UNKNOWN_FIELD", `unknown field${hint}`);
  }

  #mistyped(path: string, expected: string): undefined {
    this.#report(path, "MISTYPED", `must be ${expected}`);
  }

  #report(field: string, reason: string, description: string): void {
    this.violations.push({ field: shortened(field, maxPath), description, reason });
  }
}

/** Returns a plain list as the message that holds it. Undefined: JSON cannot express an item. */
function listOf(items: readonly unknown[]): ListValue | undefined {
  try {
    // The reader refuses what is not JSON.
    return fromJson(ListValueSchema, items as JsonValue);
  } catch {
    return undefined;
  }
}

/** Whether a message can hold a value in a field without a message, or as one of its items. */
function isHeld(field: DescField, value: unknown): boolean {
  if (field.message !== undefined) return isObject(value);
  if (field.enum !== undefined) return field.enum.values.some(({ number }) => number === value);
  const message = reflect(field.parent, create(field.parent));
  try {
    if (field.fieldKind === "list") message.get(field).add(value);
    else if (field.fieldKind === "map") message.get(field).set("", value);
    else message.set(field, value);
    return true;
  } catch {
    return false;
  }
}

function joined(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
