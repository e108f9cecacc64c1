import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { toJsonString } from "@bufbuild/protobuf";

/** A message on one line, in the canonical JSON mapping. */
export function jsonLine<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
): string {
  return `${toJsonString(schema, message)}\n`;
}
