import type { RunState } from "../../domain/state/run-state.ts";
import type { RequestOwner } from "../../ports/request-owner.ts";

/** Returns whose model calls those of a run are. */
export function ownerOf({ head: { created, runId } }: RunState): RequestOwner {
  return { tenant: created?.tenant ?? "", runId };
}
