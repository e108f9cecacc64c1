import type { ModelToolCall, PromptMessage } from "@reeve/engine/ports/model-provider";

/** The part of an earlier turn that every provider accepts. */
export interface PortableTurn {
  readonly text: string;
  readonly calls: readonly ModelToolCall[];
}

/** Returns the portable part of a turn that was recorded in another format than `format`; undefined if it can be sent verbatim. */
export function portableTurn(
  { format: recorded, text = "", calls = [] }: Extract<PromptMessage, { role: "verbatim" }>,
  format: string,
): PortableTurn | undefined {
  return recorded === undefined || recorded === format ? undefined : { text, calls };
}
