import type { DescEnum, DescField, DescMessage } from "@bufbuild/protobuf";
import { getOption, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { getComments } from "@bufbuild/protoplugin";
import {
  field as rulesOption,
  Ignore,
} from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";

/** A JSON Schema, and what OpenAPI adds to it. */
export type Schema = Readonly<Record<string, unknown>>;

/** JSON of the messages that protobuf maps to something else than an object with their fields. */
const wellKnown: Readonly<Record<string, Schema>> = {
  "google.protobuf.Timestamp": { type: "string", format: "date-time" },
  "google.protobuf.Duration": { type: "string", pattern: "^-?[0-9]+(\\.[0-9]{1,9})?s$" },
  "google.protobuf.Struct": { type: "object" },
  "google.protobuf.ListValue": { type: "array" },
  "google.protobuf.Value": {},
};

/** Collects the schemas of messages and enums, each with all that it refers to. */
export class JsonSchemas {
  readonly #schemas = new Map<string, Schema>();
  readonly #requests: ReadonlySet<string>;

  /** `requests` are the names of the messages that clients send. Only they have required fields: an answer leaves out defaults. */
  constructor(requests: ReadonlySet<string>) {
    this.#requests = requests;
  }

  /** The schemas by type name, in alphabetical order. */
  all(): Readonly<Record<string, Schema>> {
    return Object.fromEntries([...this.#schemas].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Returns a schema that refers to the schema of the message or enum. */
  reference(type: DescMessage | DescEnum): Schema {
    const known = wellKnown[type.typeName];
    if (known !== undefined) return known;
    if (!this.#schemas.has(type.typeName)) {
      // Before the fields: a message may contain itself.
      this.#schemas.set(type.typeName, {});
      this.#schemas.set(type.typeName, type.kind === "enum" ? ofEnum(type) : this.#ofMessage(type));
    }
    return { $ref: `#/components/schemas/${type.typeName}` };
  }

  /** Returns the schema of a field, with its description. */
  ofField(field: DescField): Schema {
    return { ...described(field), ...this.#valueOf(field), ...rulesOf(field) };
  }

  #ofMessage(type: DescMessage): Schema {
    const properties = type.fields.map((field) => [field.jsonName, this.ofField(field)] as const);
    const checked = this.#requests.has(type.typeName) ? type.fields.filter(isRequired) : [];
    const required = checked.map(({ jsonName }) => jsonName);
    return {
      ...described(type),
      type: "object",
      properties: Object.fromEntries(properties),
      ...(required.length > 0 && { required }),
    };
  }

  #valueOf(field: DescField): Schema {
    switch (field.fieldKind) {
      case "scalar":
        return ofScalar(field.scalar);
      case "enum":
        return this.reference(field.enum);
      case "message":
        return this.reference(field.message);
      case "list":
        return { type: "array", items: this.#elementOf(field) };
      case "map":
        return { type: "object", additionalProperties: this.#elementOf(field) };
    }
  }

  #elementOf(field: DescField & { readonly fieldKind: "list" | "map" }): Schema {
    const { message, enum: enumeration, scalar } = field;
    if (message !== undefined) return this.reference(message);
    return enumeration === undefined ? ofScalar(scalar) : this.reference(enumeration);
  }
}

/** Returns the comment of an element as its description. */
export function described(element: Parameters<typeof getComments>[0]): Schema {
  const description = commentOf(element);
  return description === "" ? {} : { description };
}

/** Returns the comment of an element, one paragraph per line. */
export function commentOf(element: Parameters<typeof getComments>[0]): string {
  const text = getComments(element).leading ?? "";
  return text
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.replace(/\s+/g, " ").trim())
    .join("\n")
    .trim();
}

function ofEnum(type: DescEnum): Schema {
  const values = type.values.map(({ name }) => name);
  const meanings = type.values.map((value) => `- ${value.name}: ${commentOf(value)}`);
  return { type: "string", description: [commentOf(type), ...meanings].join("\n"), enum: values };
}

/** Protobuf writes integers of 64 bits as text. */
function ofScalar(type: ScalarType): Schema {
  switch (type) {
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.STRING:
      return { type: "string" };
    case ScalarType.BYTES:
      return { type: "string", contentEncoding: "base64" };
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return { type: "number" };
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return { type: "integer", format: "int32" };
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return { type: "integer", format: "uint32", minimum: 0 };
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return { type: "string", format: "int64" };
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return { type: "string", format: "uint64" };
  }
}

/** Whether a request without the field is refused. */
function isRequired(field: DescField): boolean {
  const { required, ignore, type: rule } = getOption(field, rulesOption);
  const hasDefault = field.presence === FeatureSet_FieldPresence.IMPLICIT;
  const isChecked = hasDefault && ignore === Ignore.UNSPECIFIED;
  return required || (isChecked && rule.case === "string" && rule.value.minLen > 0n);
}

/** Returns the rules of a field that JSON Schema can express. A limit of bytes is also one of characters. */
function rulesOf(field: DescField): Schema {
  const { type: rule } = getOption(field, rulesOption);
  if (rule.case === "string") {
    const { minLen, maxLen, maxBytes, pattern } = rule.value;
    const max = maxLen || maxBytes;
    return {
      ...(minLen > 0n && { minLength: Number(minLen) }),
      ...(max > 0n && { maxLength: Number(max) }),
      ...(pattern !== "" && { pattern }),
    };
  }
  if (rule.case === "repeated" && rule.value.maxItems > 0n) {
    return { maxItems: Number(rule.value.maxItems) };
  }
  if (rule.case === "int32" && rule.value.greaterThan.case === "gte") {
    return { minimum: rule.value.greaterThan.value };
  }
  return {};
}
