import type { ToolCall } from "@reeve/contracts/tool";

/** A call whose result is inserted after the fold. */
export interface Open {
  readonly open: ToolCall;
  readonly providerCallId: string;
}
