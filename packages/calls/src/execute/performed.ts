import type { ToolStatus } from "@reeve/contracts/tool";
import type { ToolOutcome } from "../ports/tool.ts";

/** What a call came to, and how long it took. */
export interface Performed extends ToolOutcome {
  readonly status: ToolStatus;
  readonly executionTimeMs: number;
}
