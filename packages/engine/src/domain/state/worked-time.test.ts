import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ApprovalState } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { noWorkedTime, timeAfter, workedMs } from "./worked-time.ts";

const at = (ms: number, event: RunEvent["event"]) =>
  create(RunEventSchema, { time: timestampFromMs(ms), event });
const pending = (revision: number) =>
  create(RunEventSchema, {
    event: {
      case: "approval",
      value: { approval: { state: ApprovalState.PENDING, revision } },
    },
  }).event;
const claimed = create(RunEventSchema, { event: { case: "runClaimed", value: {} } }).event;

test("an outage does not count as work, even if approvals escalates a call meanwhile", () => {
  const events = [
    at(0, claimed),
    at(1_000, pending(0)),
    at(3_600_000, pending(1)),
    at(3_605_000, claimed),
  ];
  const time = events.reduce(timeAfter, noWorkedTime);
  expect(workedMs(time, 3_605_000)).toBe(1_000);
});
