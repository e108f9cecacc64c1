import type { DescField, JsonValue } from "@bufbuild/protobuf";
import { ScalarType } from "@bufbuild/protobuf";

/** Describes the JSON value of a field, or of one of its items, as in "must be a string". */
export function expectedOf({ message, enum: names, scalar }: DescField): string {
  if (message !== undefined) return wellKnown[message.name] ?? `a ${message.name}`;
  if (names !== undefined) return `one of ${names.values.map(({ name }) => name).join(", ")}`;
  switch (scalar) {
    case ScalarType.STRING:
      return "a string";
    case ScalarType.BOOL:
      return "true or false";
    case ScalarType.BYTES:
      return "text in base64";
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return "a number";
    case ScalarType.UINT32:
    case ScalarType.UINT64:
    case ScalarType.FIXED32:
    case ScalarType.FIXED64:
      return "a non-negative integer";
    default:
      return "an integer";
  }
}

const wellKnown: Readonly<Record<string, string>> = {
  Duration: 'a duration in seconds, such as "30s"',
  ListValue: "a list",
  Struct: "a mapping",
  Timestamp: 'a time, such as "2026-01-31T12:00:00Z"',
};

/** Returns the JSON value that stands for an unset item of a list. */
export function defaultOf({ message, enum: names, scalar }: DescField): JsonValue {
  if (message !== undefined) return message.name === "ListValue" ? [] : {};
  if (names !== undefined) return 0;
  switch (scalar) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return "";
    case ScalarType.BOOL:
      return false;
    default:
      return 0;
  }
}
