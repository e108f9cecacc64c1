import { equals } from "@bufbuild/protobuf";
import type { ContentPart } from "@reeve/contracts/content/parts";
import { ContentPartSchema } from "@reeve/contracts/content/parts";

/** Whether two messages have the same parts. */
export function isSameParts(a: readonly ContentPart[], b: readonly ContentPart[]): boolean {
  return (
    a.length === b.length &&
    a.every((part, index) => {
      const other = b[index];
      return other !== undefined && equals(ContentPartSchema, part, other);
    })
  );
}
