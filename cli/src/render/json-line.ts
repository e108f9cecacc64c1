import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { toJsonString } from "@bufbuild/protobuf";

/** Returns a message on one line, in the canonical protobuf JSON format. */
export function jsonLine<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
): string {
  return `${toJsonString(schema, message)}\n`;
}
