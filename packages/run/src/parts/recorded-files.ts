import type { GivenFile } from "@reeve/agent/resolve/assert-reads";
import type { RunCreated } from "@reeve/contracts/run";
import type { ContentPart } from "@reeve/contracts/content/parts";

/** Returns the files among the parts that the first fact of a run records. */
export function recordedFiles({
  parts,
  messages,
}: Pick<RunCreated, "parts" | "messages">): readonly GivenFile[] {
  return [
    ...filesIn("parts", parts),
    ...messages.flatMap((each, index) => filesIn(`messages[${index}].parts`, each.parts)),
  ];
}

function filesIn(field: string, parts: readonly ContentPart[]): readonly GivenFile[] {
  return parts.flatMap(({ part }, index) =>
    part.case === "file"
      ? [{ field: `${field}[${index}].file`, mediaType: part.value.mediaType }]
      : [],
  );
}
