import { fileNote } from "@reeve/contracts/content/media";
import { toBinary } from "@bufbuild/protobuf";
import type { ContentPart } from "@reeve/contracts/content/parts";
import { ContentPartSchema } from "@reeve/contracts/content/parts";

/** Returns parts as lines of text, with a note for each file. */
export function partLines(parts: readonly ContentPart[]): readonly string[] {
  return parts.flatMap(({ part }) => {
    if (part.case === "text") return [part.value];
    return part.case === "file" ? [fileNote(part.value)] : [];
  });
}

const encoder = new TextEncoder();

/** Returns how many bytes the text of a message has, with its parts. */
export function textBytesOf(
  message: { readonly text: string; readonly parts: readonly ContentPart[] } | undefined,
): number {
  const { text = "", parts = [] } = message ?? {};
  return parts.reduce(
    (sum, { part }) => (part.case === "text" ? sum + encoder.encode(part.value).length : sum),
    encoder.encode(text).length,
  );
}

/** Returns how many bytes a message takes in a log, about: those of its text, and of its encoded parts. */
export function recordedBytesOf(
  message: { readonly text: string; readonly parts: readonly ContentPart[] } | undefined,
): number {
  const { text = "", parts = [] } = message ?? {};
  return parts.reduce(
    (sum, part) => sum + toBinary(ContentPartSchema, part).length,
    encoder.encode(text).length,
  );
}
