import { create } from "@bufbuild/protobuf";
import { AuditEventSchema } from "@reeve/contracts/audit";
import { expect, test } from "vitest";
import { groupEvents } from "./group-events.ts";

function event(eventId: string, subject: string, action: string, count = 0) {
  return create(AuditEventSchema, { eventId, subject, action, code: "OK", count });
}

test("puts what one person repeats into one group, also if others act between", () => {
  const groups = groupEvents([
    event("6", "bot", "run.watch"),
    event("5", "ann", "run.cancel"),
    event("4", "bot", "run.watch", 3),
    event("3", "bot", "run.start"),
    event("2", "bot", "run.watch"),
  ]);
  const ids = groups.map(({ events }) => events.map(({ eventId }) => eventId));
  expect(ids).toEqual([["6", "4"], ["5"], ["3"], ["2"]]);
  expect(groups[0]?.calls).toBe(4);
});
