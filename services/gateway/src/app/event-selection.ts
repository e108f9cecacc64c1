import { getOption, hasOption } from "@bufbuild/protobuf";
import type { RunEvent, WatchRunRequest } from "@reeve/contracts/run";
import { EventFamily, family, RunEventSchema } from "@reeve/contracts/run";
import { isTerminal } from "@reeve/run/head/run-status";

/** The family of each kind of event, from the contract. A kind without a family is a record. */
const families: ReadonlyMap<string, EventFamily> = new Map(
  (RunEventSchema.oneofs[0]?.fields ?? []).map((field) => [
    field.localName,
    hasOption(field, family) ? getOption(field, family) : EventFamily.RECORD,
  ]),
);

/** Whether a family is part of the concise selection: what people read, without details. */
const isConcise: Readonly<Record<EventFamily, boolean>> = {
  [EventFamily.UNSPECIFIED]: false,
  [EventFamily.STATUS]: false,
  [EventFamily.STEP]: false,
  [EventFamily.TEXT]: true,
  [EventFamily.REASONING]: false,
  [EventFamily.TOOL_CALL]: true,
  [EventFamily.MCP_PROGRESS]: true,
  [EventFamily.TOOL_RESULT]: false,
  [EventFamily.USAGE]: false,
  [EventFamily.CONTEXT]: true,
  [EventFamily.MESSAGE_INJECTED]: true,
  [EventFamily.PLAN]: false,
  [EventFamily.APPROVAL]: true,
  [EventFamily.SUBTASK]: false,
  [EventFamily.BUDGET_EXCEEDED]: true,
  [EventFamily.COST_SUMMARY]: false,
  [EventFamily.ERROR]: true,
  [EventFamily.TEXT_VOIDED]: true,
  [EventFamily.RECORD]: false,
};

/** Returns a predicate for the events that a client with this `selection` receives. */
export function eventSelection(
  selection: WatchRunRequest["selection"],
): (event: RunEvent) => boolean {
  switch (selection.case) {
    case "families": {
      const selected = new Set(selection.value.families);
      return (event) => selected.has(familyOf(event));
    }
    case "detailed":
      if (!selection.value) return (event) => isConcise[familyOf(event)] || endsRun(event);
      break;
    case undefined:
      break;
  }
  return (event) => !isRecord(event);
}

/** Whether an event is the terminal status of its run. */
export function endsRun({ event }: RunEvent): boolean {
  return event.case === "status" && isTerminal(event.value.status);
}

/** Whether clients do not see an event unless they ask for records. */
export function isRecord(event: RunEvent): boolean {
  return familyOf(event) === EventFamily.RECORD;
}

function familyOf({ event }: RunEvent): EventFamily {
  return families.get(event.case ?? "") ?? EventFamily.RECORD;
}
