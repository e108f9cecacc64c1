import type { ToolCallRequest } from "@reeve/contracts/tool";
import type { Attachment } from "../ports/tool.ts";
import type { ToolhostPorts } from "../ports/toolhost-ports.ts";
import { keepPart } from "./keep-part.ts";

/** How many a result may have: the model is told of each. */
const most = 8;

/** What became of that which a result has beside its text. */
export interface Extras {
  /** What the model is told of them, to stand behind the text. Empty: there is nothing to tell. */
  readonly note: string;
  /** The first of them that was kept. */
  readonly artifactId?: string;
}

/** Keeps what a result has beside its text. What the store does not take is told; throws only when `signal` aborts. */
export async function keepExtras(
  request: ToolCallRequest,
  extras: readonly Attachment[],
  ports: Pick<ToolhostPorts, "artifacts" | "keepMs" | "log">,
  signal: AbortSignal,
): Promise<Extras> {
  if (extras.length === 0) return { note: "" };
  const told: string[] = [];
  let artifactId: string | undefined;
  for (const { label, mediaType, bytes } of extras.slice(0, most)) {
    // A store that failed once is not waited for again and again.
    const key = label.replaceAll(/[^a-z0-9]+/gi, "-");
    const kept = await keepPart(request, { key, mediaType, bytes }, ports, signal);
    if (kept.kind === "kept") artifactId ??= kept.artifactId;
    told.push(
      kept.kind === "kept" ? `${label} is ${kept.artifactId}` : `${label} could not be kept`,
    );
    if (kept.kind === "lost") break;
  }
  const left = extras.length - told.length;
  if (left > 0) told.push(`${left} more were not kept`);
  return {
    note: `\n[artifacts: ${told.join(", ")}]`,
    ...(artifactId !== undefined && { artifactId }),
  };
}
