import type { ToolCallFact } from "@reeve/contracts/tool";
import type { Log } from "./port.ts";

/** Identifies a tool call of a run of a tenant. */
export interface CallKey {
  readonly tenant: string;
  readonly run: string;
  readonly call: string;
}

/** The journals of tool calls. A fact has no sequence field: its position in the journal is its sequence. */
export type CallJournal = Log<CallKey, ToolCallFact>;

/** Whether a fact ends its call. Nothing is appended after it. */
export function endsCall({ fact: { case: kind } }: ToolCallFact): boolean {
  return kind === "result" || kind === "cancelled";
}
