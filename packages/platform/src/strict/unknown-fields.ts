import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import { isReflectMessage, reflect } from "@bufbuild/protobuf/reflect";
import type { Violation } from "../failure.ts";

/** How many unknown fields one message reports. */
const maxViolations = 100;

/**
 * Returns a violation for each field that a message was sent with in binary and that its contract does not have, and for each
 * value that its enum does not have. The sender has a newer contract: what it asked for would be dropped. The last part of the
 * path of an unknown field is its number.
 */
export function unknownFields(schema: DescMessage, message: Message): readonly Violation[] {
  const violations: Violation[] = [];
  collect(reflect(schema, message), "", violations);
  return violations;
}

function collect(message: ReflectMessage, path: string, found: Violation[]): void {
  for (const number of new Set(message.getUnknown()?.map(({ no }) => no))) {
    if (found.length >= maxViolations) return;
    found.push({
      field: `${path}${number}`,
      description: `${message.desc.typeName} has no field number ${number} in this version; leave it out, or update the server`,
      reason: "UNKNOWN_FIELD",
    });
  }
  for (const field of message.fields) {
    if (field.fieldKind === "enum" && field.enum.value[message.get(field)] === undefined) {
      found.push({
        field: `${path}${field.name}`,
        description: `${field.enum.typeName} has no value ${message.get(field)} in this version; use another, or update the server`,
        reason: "UNKNOWN_VALUE",
      });
    }
    if (!field.message?.typeName.startsWith("reeve.") || !message.isSet(field)) continue;
    for (const [name, inner] of messagesOf(message, field)) {
      if (found.length >= maxViolations) return;
      collect(inner, `${path}${name}.`, found);
    }
  }
}

/** Returns the messages in a field, each with its path. */
function* messagesOf(
  message: ReflectMessage,
  field: DescField,
): Iterable<readonly [string, ReflectMessage]> {
  const { name } = field;
  switch (field.fieldKind) {
    case "message":
      yield [name, message.get(field)];
      break;
    case "list":
      for (const [index, item] of message.get(field).entries()) {
        if (isReflectMessage(item)) yield [`${name}[${index}]`, item];
      }
      break;
    case "map":
      for (const [key, item] of message.get(field).entries()) {
        if (isReflectMessage(item)) yield [`${name}[${JSON.stringify(String(key))}]`, item];
      }
      break;
    case "scalar":
    case "enum":
      break;
  }
}
