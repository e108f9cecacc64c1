import type { ToolDescriptor } from "@reeve/contracts/tool";
import type { Call } from "../../state/frame.ts";

const maxCallCharacters = 40_000;

/** What a model that reviews a call is shown of it. */
export interface ReviewedCall {
  readonly text: string;
  /** Whether it is all of the call and of its files. */
  readonly isWhole: boolean;
}

/** Returns what a model is shown of a call. Everything about the call is data that its author may have written. */
export function reviewedCall(
  tool: Pick<ToolDescriptor, "description"> | undefined,
  { call, approval }: Pick<Call, "call" | "approval">,
): ReviewedCall {
  const files = approval?.content?.files ?? [];
  const text = JSON.stringify({
    tool: call.name,
    description: tool?.description ?? "",
    arguments: call.arguments ?? {},
    files: files.map(({ path, state, preview }) => ({ path, state, preview })),
  });
  const isCut = text.length > maxCallCharacters;
  // A preview is the start of a text, and empty for other files.
  const arePreviewed = files.every(
    ({ preview, sizeBytes }) => BigInt(Buffer.byteLength(preview)) >= sizeBytes,
  );
  return {
    text: isCut ? `${text.slice(0, maxCallCharacters)} [cut: be unsure]` : text,
    isWhole: !isCut && arePreviewed,
  };
}
