import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { toJsonString } from "@bufbuild/protobuf";
import { escapeUnsafe } from "./plain-text.ts";

/**
 * Returns a message on one line, in the canonical protobuf JSON format. Characters that could control a terminal are escape
 * sequences of JSON, so that the line stands for the same message.
 */
export function jsonLine<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
): string {
  return `${escapeUnsafe(toJsonString(schema, message))}\n`;
}
