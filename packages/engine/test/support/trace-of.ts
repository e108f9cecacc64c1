import { getOption, hasOption } from "@bufbuild/protobuf";
import type { RunEvent } from "@reeve/contracts/run";
import {
  EventFamily,
  family,
  RunEventSchema,
  RunStatusSchema,
  StepState,
} from "@reeve/contracts/run";

/** Returns the events in short form, records included: `step:started`, `toolCall:search`, … */
export function traceOf(events: readonly RunEvent[]): readonly string[] {
  return events.map(shortForm);
}

/** Returns the events that a client sees by default, in short form. */
export function clientTraceOf(events: readonly RunEvent[]): readonly string[] {
  return events.filter(({ event }) => !records.has(event.case ?? "")).map(shortForm);
}

/** Kinds of events that the contract assigns to no family: clients do not see them by default. */
const records: ReadonlySet<string> = new Set(
  (RunEventSchema.oneofs[0]?.fields ?? [])
    .filter((field) => !hasOption(field, family) || getOption(field, family) === EventFamily.RECORD)
    .map(({ localName }) => localName),
);

function shortForm({ event }: RunEvent): string {
  switch (event.case) {
    case "status":
      return `status:${RunStatusSchema.value[event.value.status]?.localName.toLowerCase()}`;
    case "step":
      return `step:${event.value.state === StepState.STARTED ? "started" : "completed"}`;
    case "toolCall":
      return `toolCall:${event.value.name}`;
    case "toolResult":
      return `toolResult:${event.value.success ? "ok" : "error"}`;
    case "error":
      return `error:${event.value.reason}`;
    case "subtask":
      return `subtask:${event.value.ended ? (event.value.isError ? "failed" : "ended") : "began"}`;
    default:
      return event.case ?? "unknown";
  }
}
