import { createHash } from "node:crypto";
import { equals } from "@bufbuild/protobuf";
import type { ContentPart, FilePart } from "@reeve/contracts/content/parts";
import { ContentPartSchema } from "@reeve/contracts/content/parts";

/** Whether the parts of a request are those that a log has recorded. Needs no artifact: it may have been deleted since. */
export function isSameParts(
  given: readonly ContentPart[],
  recorded: readonly ContentPart[],
): boolean {
  return (
    given.length === recorded.length &&
    given.every((part, index) => {
      const other = recorded[index];
      return other !== undefined && isSamePart(part, other);
    })
  );
}

function isSamePart(given: ContentPart, recorded: ContentPart): boolean {
  return given.part.case === "file" && recorded.part.case === "file"
    ? isSameFile(given.part.value, recorded.part.value)
    : equals(ContentPartSchema, given, recorded);
}

/** A name and a media type that were left out are those of the artifact. */
function isSameFile(given: FilePart, recorded: FilePart): boolean {
  if (given.artifactId === "") {
    const sha256 = createHash("sha256").update(given.content).digest("hex");
    const name = given.name || "file";
    return (
      sha256 === recorded.sha256 && given.mediaType === recorded.mediaType && name === recorded.name
    );
  }
  return (
    given.artifactId === recorded.artifactId &&
    ["", recorded.mediaType].includes(given.mediaType) &&
    ["", recorded.name].includes(given.name)
  );
}
