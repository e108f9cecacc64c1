import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { getOption, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import type { FieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import {
  field as rulesOption,
  Ignore,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import type { Schema } from "../openapi/json-schema.ts";
import { described } from "../openapi/json-schema.ts";

/**
 * What a field accepts beyond its contract, by `<message>.<field>`. It is added to the schema of the field, or of its entries. A hidden field
 * is refused.
 */
export type Refinements = ReadonlyMap<string, Schema | "hidden">;

/** JSON of the messages that protobuf maps to something else than an object with their fields. */
const wellKnown: Readonly<Record<string, Schema>> = {
  "google.protobuf.Duration": { type: "string", pattern: "^-?[0-9]+(\\.[0-9]{1,9})?s$" },
  "google.protobuf.Struct": { type: "object" },
  // The lists of the agent spec are lists of names.
  "google.protobuf.ListValue": { type: "array", items: { type: "string" } },
  "google.protobuf.Value": {},
};

/** Writes messages as schemas of the files that hold them, with the names in snake_case. */
export class MessageSchemas {
  readonly #definitions = new Map<string, Schema>();
  readonly #refinements: Refinements;

  constructor(refinements: Refinements) {
    this.#refinements = refinements;
  }

  /** The messages that a schema refers to, by name, in alphabetical order. */
  definitions(): Readonly<Record<string, Schema>> {
    return Object.fromEntries([...this.#definitions].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Returns the schema of a message. Refuses fields that the message does not have. */
  ofMessage(type: DescMessage): Schema {
    const properties = type.fields.flatMap((field) => {
      const refined = this.#refinements.get(`${type.name}.${field.name}`) ?? {};
      return refined === "hidden" ? [] : [[field.name, this.#ofField(field, refined)] as const];
    });
    const required = type.fields.filter(isRequired).map(({ name }) => name);
    return {
      ...described(type),
      type: "object",
      properties: Object.fromEntries(properties),
      ...(required.length > 0 && { required }),
      additionalProperties: false,
    };
  }

  #ofField(field: DescField, refined: Schema): Schema {
    const rules = getOption(field, rulesOption);
    const value = this.#valueOf(field, rules, refined);
    return { ...described(field), ...value };
  }

  #valueOf(field: DescField, rules: FieldRules, refined: Schema): Schema {
    switch (field.fieldKind) {
      case "scalar":
        return { ...ofScalar(field.scalar), ...ofRules(rules), ...refined };
      case "enum":
        return { type: "string", enum: field.enum.values.map(({ name }) => name), ...refined };
      case "message":
        return { ...this.#reference(field.message), ...refined };
      case "list":
        return { type: "array", ...ofRules(rules), ...this.#itemsOf(field, rules, refined) };
      case "map":
        return {
          type: "object",
          additionalProperties: this.#elementOf(field),
          ...ofRules(rules),
          ...refined,
        };
    }
  }

  #itemsOf(
    field: DescField & { readonly fieldKind: "list" },
    { type: rule }: FieldRules,
    refined: Schema,
  ): Schema {
    const ofItems = rule.case === "repeated" && rule.value.items !== undefined;
    const rules = ofItems && rule.value.items !== undefined ? ofRules(rule.value.items) : {};
    return { items: { ...this.#elementOf(field), ...rules, ...refined } };
  }

  #elementOf(field: DescField & { readonly fieldKind: "list" | "map" }): Schema {
    const { message, enum: enumeration, scalar } = field;
    if (message !== undefined) return this.#reference(message);
    if (enumeration === undefined) return ofScalar(scalar);
    return { type: "string", enum: enumeration.values.map(({ name }) => name) };
  }

  #reference(type: DescMessage): Schema {
    const known = wellKnown[type.typeName];
    if (known !== undefined) return known;
    if (!this.#definitions.has(type.name)) {
      // Before the fields: a message may contain itself.
      this.#definitions.set(type.name, {});
      this.#definitions.set(type.name, this.ofMessage(type));
    }
    // Beside a reference, a draft 7 validator reads nothing, and the description of the field belongs there.
    return { allOf: [{ $ref: `#/definitions/${type.name}` }] };
  }
}

function ofScalar(type: ScalarType): Schema {
  switch (type) {
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return { type: "string" };
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return { type: "number" };
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return { type: "integer", minimum: 0 };
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return { type: "integer" };
  }
}

/** Whether a file without the field is refused. */
function isRequired(field: DescField): boolean {
  const { required, ignore, type: rule } = getOption(field, rulesOption);
  const hasDefault = field.presence === FeatureSet_FieldPresence.IMPLICIT;
  const isChecked = hasDefault && ignore === Ignore.UNSPECIFIED;
  return required || (isChecked && rule.case === "string" && rule.value.minLen > 0n);
}

/** Returns the rules that JSON Schema can express. A limit of bytes is also one of characters. */
function ofRules({ type: rule }: FieldRules): Schema {
  switch (rule.case) {
    case "string": {
      const { minLen, maxLen, maxBytes, pattern, in: allowed } = rule.value;
      const max = maxLen || maxBytes;
      return {
        ...(minLen > 0n && { minLength: Number(minLen) }),
        ...(max > 0n && { maxLength: Number(max) }),
        ...(pattern !== "" && { pattern }),
        ...(allowed.length > 0 && { enum: allowed }),
      };
    }
    case "repeated": {
      const { minItems, maxItems, unique } = rule.value;
      return {
        ...(minItems > 0n && { minItems: Number(minItems) }),
        ...(maxItems > 0n && { maxItems: Number(maxItems) }),
        ...(unique && { uniqueItems: true }),
      };
    }
    case "uint32":
    case "int32":
    case "double": {
      const { greaterThan: low, lessThan: high } = rule.value;
      return {
        ...(low.case === "gte" && { minimum: low.value }),
        ...(low.case === "gt" && { exclusiveMinimum: low.value }),
        ...(high.case === "lte" && { maximum: high.value }),
        ...(high.case === "lt" && { exclusiveMaximum: high.value }),
      };
    }
    default:
      // The other kinds have no rules that an editor could show: a duration is a text, and its limits are in its description.
      return {};
  }
}
