import { create } from "@bufbuild/protobuf";
import type { WatchRunRequest } from "@reeve/contracts/run";
import { EventFamiliesSchema, EventFamily, RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { describe, expect, test } from "vitest";
import { endsRun, eventSelection } from "./event-selection.ts";

/** One event of every kind in the contract, by its name. */
const kinds = (RunEventSchema.oneofs[0]?.fields ?? []).map(({ localName }) => localName);

function eventOf(kind: string, status: RunStatus = RunStatus.RUNNING) {
  const value = kind === "status" ? { status } : {};
  // The names come from the contract itself.
  return create(RunEventSchema, { event: { case: kind, value } as never });
}

/** Returns the kinds of events that a selection includes. */
function shown(selection: WatchRunRequest["selection"], status: RunStatus = RunStatus.RUNNING) {
  const isWanted = eventSelection(selection);
  return kinds.filter((kind) => isWanted(eventOf(kind, status)));
}

const only = (...families: EventFamily[]) =>
  shown({ case: "families", value: create(EventFamiliesSchema, { families }) });

const everything = shown({ case: undefined });
const detail = [
  "status",
  "step",
  "reasoning",
  "toolResult",
  "usage",
  "mediaCallEnded",
  "plan",
  "subtask",
  "costSummary",
];

describe("a selection of events", () => {
  // Requirement: EVT-1
  test("includes everything except records by default, and with all details", () => {
    expect(everything).toEqual(shown({ case: "detailed", value: true }));
    expect(everything).not.toContain("runCreated");
    expect(everything).not.toContain("modelTurn");
    expect([...everything].toSorted()).toEqual(
      [
        ...detail,
        "approval",
        "budgetExceeded",
        "context",
        "error",
        "mcpProgress",
        "messageInjected",
        "text",
        "textVoided",
        "toolCall",
      ].toSorted(),
    );
  });

  // Requirement: EVT-5
  test("without details includes what a person reads", () => {
    const narrow = shown({ case: "detailed", value: false });
    expect(everything.filter((kind) => !narrow.includes(kind)).toSorted()).toEqual(
      detail.toSorted(),
    );
  });

  test.each([RunStatus.COMPLETED, RunStatus.ERROR, RunStatus.CANCELLED])(
    "without details includes a status only if it is terminal: %i",
    (status) => {
      expect(shown({ case: "detailed", value: false }, status)).toContain("status");
      expect(endsRun(eventOf("status", status))).toBe(true);
    },
  );

  // Requirement: EVT-5
  test("by families includes exactly those, and nothing for no families", () => {
    expect(only()).toEqual([]);
    expect(only(EventFamily.TEXT, EventFamily.USAGE).toSorted()).toEqual([
      "mediaCallEnded",
      "text",
      "usage",
    ]);
    expect(only(EventFamily.RECORD)).toContain("runCreated");
    expect(only(EventFamily.RECORD)).not.toContain("text");
  });

  // Requirement: EVT-7
  test("treats an event of a newer version as a record", () => {
    const unknown = create(RunEventSchema, {});
    expect(eventSelection({ case: undefined })(unknown)).toBe(false);
    expect(endsRun(unknown)).toBe(false);
  });
});
