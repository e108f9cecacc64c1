import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ApprovalState } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { addTimes, noTimes } from "./run-times.ts";

const at = (ms: number, event: RunEvent["event"] | object) =>
  create(RunEventSchema, { time: timestampFromMs(ms), event: event as RunEvent["event"] });
const approval = (state: ApprovalState) => ({
  case: "approval",
  value: { approval: { approvalId: "a", state } },
});

test("sums the time of the model, of tools, and of approvals", () => {
  const events = [
    at(1_000, { case: "runCreated", value: {} }),
    at(1_010, { case: "modelCallStarted", value: {} }),
    at(1_110, { case: "modelTurn", value: {} }),
    at(1_200, approval(ApprovalState.PENDING)),
    at(3_200, approval(ApprovalState.APPROVED)),
    at(3_300, {
      case: "toolResult",
      value: { result: { metadata: { executionTimeMs: 40 } } },
    }),
    at(3_310, { case: "modelCallStarted", value: {} }),
    at(3_330, { case: "modelCallFailed", value: {} }),
    at(3_400, { case: "status", value: {} }),
  ];
  expect(events.reduce(addTimes, noTimes)).toMatchObject({
    totalMs: 2_400,
    modelMs: 120,
    toolMs: 40,
    waitedMs: 2_000,
  });
});
