import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { AuditEventSchema, AuditPhase } from "@reeve/contracts/audit";
import { expect, test } from "vitest";
import { groupEvents } from "./group-events.ts";

const minuteMs = 60_000;

function event(minute: number, subject: string, action: string, code = "OK", count = 0) {
  const time = timestampFromMs(minute * minuteMs);
  return create(AuditEventSchema, { eventId: `${minute}`, time, subject, action, code, count });
}

test("puts what one person repeats into one group, also if others act between", () => {
  const groups = groupEvents([
    event(60, "bot", "run.watch", "CANCELLED"),
    event(59, "ann", "run.cancel"),
    event(58, "bot", "run.start"),
    event(57, "bot", "run.watch", "OK", 3),
    event(56, "bot", "run.watch", "NOT_FOUND"),
    event(40, "bot", "run.watch"),
  ]);
  const ids = groups.map(({ events }) => events.map(({ eventId }) => eventId));
  // The last one is too old for the first group, and a refusal is never in a group with what was accepted.
  expect(ids).toEqual([["60", "57"], ["59"], ["58"], ["56"], ["40"]]);
  expect(groups[0]?.calls).toBe(4);
});

function decision(minute: number, more: object) {
  return { ...event(minute, "ann", "approval.decide"), ...more };
}

test("separates what a person chose, and with which credential", () => {
  const groups = groupEvents([
    decision(60, { choices: { approved: true } }),
    decision(59, { choices: { approved: false } }),
    decision(58, { choices: { approved: true } }),
    decision(57, { choices: { approved: true }, credential: { id: "other" } }),
  ]);
  const ids = groups.map(({ events }) => events.map(({ eventId }) => eventId));
  expect(ids).toEqual([["60", "58"], ["59"], ["57"]]);
});

test("counts a stream once, while it is open and when it has ended", () => {
  const begun = { ...event(59, "bot", "run.watch"), phase: AuditPhase.BEGIN };
  const ended = { ...event(60, "bot", "run.watch"), phase: AuditPhase.END };
  expect(groupEvents([ended, begun])[0]?.calls).toBe(1);
  expect(groupEvents([begun])[0]?.calls).toBe(1);
});
