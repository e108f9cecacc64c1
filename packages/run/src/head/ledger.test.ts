import { create } from "@bufbuild/protobuf";
import { RunEventSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { charge, costAfter, emptyLedger } from "./ledger.ts";

// Requirement: KNOW-4
test("what searches cost is a part of the cost of a run, and a model without a price counts nothing", () => {
  const retrieval = { embeddingCostUsd: 0.25 };
  const searches = [
    { case: "runPrepared", value: { retrieval } },
    { case: "toolResult", value: { result: { content: "x", retrieval } } },
    { case: "toolResult", value: { result: { content: "y", retrieval: {} } } },
  ] as const;
  const events = searches.map((event) => create(RunEventSchema, { event }));
  expect(events.reduce(charge, emptyLedger)).toMatchObject({ costUsd: 0.5, resultBytes: 2 });
  expect(events.reduce<number | undefined>(costAfter, 1)).toBe(1.5);
  expect(events.reduce<number | undefined>(costAfter, undefined)).toBeUndefined();
});
