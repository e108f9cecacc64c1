import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { RunFilterSchema } from "@reeve/contracts/run";
import type { RunsSearch } from "./runs-search.ts";
import { maxAgeMs, statusesOf } from "./runs-search.ts";

/** How many times the start of the chosen time moves while the time passes once. Each move reads the list from its beginning. */
const steps = 12;

/** Returns the filter of a request for the runs that a person looks for. */
export function filterOf(
  search: RunsSearch,
  nowMs: number,
): MessageInitShape<typeof RunFilterSchema> {
  const { agent = "", thread = "", user = "", text = "", label, cost = 0 } = search;
  const ageMs = maxAgeMs(search);
  return {
    agentId: agent,
    threadId: thread,
    startedBy: user,
    text,
    minCostUsd: cost,
    hasFailedSubtasks: search.parts === "failed",
    statuses: [...statusesOf(search)],
    labels: label === undefined ? {} : labelOf(label),
    ...(ageMs !== undefined && { createdAfter: timestampFromMs(startOf(nowMs, ageMs)) }),
  };
}

/** Reads `team` as a label with any value, and `team=blue` as one with this value. */
function labelOf(text: string): Record<string, string> {
  const [name = "", ...value] = text.split("=");
  // A name that is empty selects nothing that exists, and is refused.
  return name === "" ? {} : { [name]: value.join("=") };
}

function startOf(nowMs: number, ageMs: number): number {
  const stepMs = ageMs / steps;
  return Math.floor((nowMs - ageMs) / stepMs) * stepMs;
}
