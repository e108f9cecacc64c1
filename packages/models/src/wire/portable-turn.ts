import type { ModelToolCall, PromptMessage } from "@reeve/engine/ports/model-provider";

/** What of an earlier turn every provider understands. */
export interface PortableTurn {
  readonly text: string;
  readonly calls: readonly ModelToolCall[];
}

/** The turn of a message that was recorded in another format than `format`; undefined: it can go back verbatim. */
export function portableTurn(
  { format: recorded, text = "", calls = [] }: Extract<PromptMessage, { role: "verbatim" }>,
  format: string,
): PortableTurn | undefined {
  return recorded === undefined || recorded === format ? undefined : { text, calls };
}
