import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ExternalFact } from "./append-external.ts";
import { isParked } from "../head/ownership.ts";
import type { RunHead } from "../head/run-head.ts";
import { pendingApprovals } from "../head/run-head.ts";

/**
 * Returns the fact that follows one which gives a parked run nothing to do: the run stays parked, so that no worker takes it up.
 * None if the run is not parked.
 */
export function parkedAgain(head: RunHead): readonly ExternalFact[] {
  if (!isParked(head)) return [];
  const waitingFor = pendingApprovals(head).map(({ approvalId }) => approvalId);
  const { wakeAtMs } = head;
  const wakeAt = wakeAtMs === undefined ? {} : { wakeAt: timestampFromMs(wakeAtMs) };
  return [{ case: "runParked", value: { waitingFor, ...wakeAt } }];
}
