import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import type { ModelWaits } from "./model-waits.ts";
import { firstWait, waitsAfter } from "./model-waits.ts";

function failed(parentId: string, seconds: number): RunEvent {
  const value = { reason: "unavailable", attempt: 1, retryDelay: { seconds: BigInt(seconds) } };
  const event = { case: "modelCallFailed", value } as const;
  return create(RunEventSchema, { parentId, time: timestampFromMs(1_000), event });
}

const due = create(RunEventSchema, {
  parentId: "b",
  event: { case: "modelRetryDue", value: { attempt: 1 } },
});

test("of several waits, the one that ends first is shown", () => {
  const none: ModelWaits = new Map();
  const both = [failed("a", 9), failed("b", 4)].reduce(waitsAfter, none);
  expect(firstWait(both)?.until).toEqual(timestampFromMs(5_000));
  const rest = waitsAfter(both, due);
  expect(firstWait(rest)?.until).toEqual(timestampFromMs(10_000));
  expect(firstWait(none)).toBeUndefined();
});
