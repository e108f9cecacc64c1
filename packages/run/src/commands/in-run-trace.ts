import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Attributes } from "@opentelemetry/api";
import { context } from "@opentelemetry/api";
import { ApprovalStateSchema } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import { attributes } from "@reeve/platform/telemetry/span-names";
import {
  contextFrom,
  inSpan,
  isSameTrace,
  linksTo,
  traceparentOf,
} from "@reeve/platform/telemetry/spans";
import type { RunHead } from "../head/run-head.ts";

/**
 * Runs `work`, which brings external events to a run, in a span of the run's trace. The span is as short as the work,
 * however long the run has waited. It links to the request that brings the events, which has its own trace, and to the last
 * claim. A run without a trace gets no span.
 */
export async function inRunTrace<Result>(
  { created, claim }: RunHead,
  events: readonly RunEvent[],
  work: () => Promise<Result>,
): Promise<Result> {
  const run = created?.traceparent ?? "";
  if (run === "") return await work();
  const active = traceparentOf();
  const isInside = isSameTrace(active, run);
  const parent = isInside ? context.active() : contextFrom(run);
  const links = linksTo([...(isInside ? [] : [active]), claim?.traceparent ?? ""]);
  const options = { links, attributes: described(events) };
  return await inSpan(nameOf(events), options, parent, work);
}

/** Names of spans by the kind of their first event; other kinds share one name. */
const names: Partial<Record<NonNullable<RunEvent["event"]["case"]>, string>> = {
  approval: "resolve_approval",
  cancelRequested: "cancel_run",
  messageSubmitted: "submit_message",
};

function nameOf([first]: readonly RunEvent[]): string {
  return (first?.event.case && names[first.event.case]) ?? "append_external";
}

function described(events: readonly RunEvent[]): Attributes {
  const [first] = events;
  const run = { [attributes.runId]: first?.runId ?? "" };
  const approval = first?.event.case === "approval" ? first.event.value.approval : undefined;
  if (approval === undefined) return run;
  const { approvalId, requestedAt, state } = approval;
  const waited =
    requestedAt && first?.time && (timestampMs(first.time) - timestampMs(requestedAt)) / 1_000;
  return {
    ...run,
    [attributes.approvalId]: approvalId,
    [attributes.approvalState]: ApprovalStateSchema.value[state]?.localName.toLowerCase() ?? "",
    ...(waited !== undefined && { [attributes.approvalWait]: waited }),
  };
}
