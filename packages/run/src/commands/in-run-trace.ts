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
 * Does `work`, by which events from outside reach a run, in a span in the trace of that run: however long it has waited, the
 * span is as short as the work. It is linked to the request that brings the events, which is in a trace of its own, and to
 * the claim before. For a run that is not traced there is no span.
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

const names: Partial<Record<NonNullable<RunEvent["event"]["case"]>, string>> = {
  approval: "resolve_approval",
  cancelRequested: "cancel_run",
  messageSubmitted: "submit_message",
};

function nameOf([first]: readonly RunEvent[]): string {
  return (first?.event.case && names[first.event.case]) ?? "tell_run";
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
