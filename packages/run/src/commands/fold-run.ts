import type { RunEvent } from "@reeve/contracts/run";
import { foldInSlices } from "@reeve/platform/async/fold-in-slices";
import type { RunHead } from "../head/run-head.ts";
import { emptyHead, foldHead } from "../head/run-head.ts";

/** Returns the head of a run with these events. Other work of the process runs between parts of a long log. */
export function foldRun(events: readonly RunEvent[], signal: AbortSignal): Promise<RunHead> {
  return foldInSlices(emptyHead, events, foldHead, signal);
}
