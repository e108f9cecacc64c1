import { create } from "@bufbuild/protobuf";
import { WorkerPresenceSchema } from "@reeve/contracts/worker-presence";
import { expect, test } from "vitest";
import { modelActivity } from "./model-activity.ts";

/** A hundred calls: most within 0.1 s, and some longer than every limit. */
const durations = [90, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6];
const row = { provider: "openai", model: "large", calls: 100, failures: 1, durations };
const workers = [
  create(WorkerPresenceSchema, {
    modelCalls: [
      { ...row, tenant: "acme", costUsd: 1, failedRunIds: ["run_1"] },
      { ...row, tenant: "globex", costUsd: 5, failedRunIds: ["run_2"] },
    ],
  }),
  create(WorkerPresenceSchema, {
    modelCalls: [{ ...row, tenant: "acme", costUsd: 2, failedRunIds: ["run_3", "run_1"] }],
  }),
];

test("adds up what the workers have counted for a tenant", () => {
  expect(modelActivity(workers, { tenant: "acme", allTenants: false })).toMatchObject([
    { calls: 200, failures: 2, costUsd: 3, failedRunIds: ["run_1", "run_3"] },
  ]);
});

test("adds up all tenants, and names the runs of one", () => {
  expect(modelActivity(workers, { tenant: "acme", allTenants: true })).toMatchObject([
    { calls: 300, costUsd: 8, failedRunIds: ["run_1", "run_3"] },
  ]);
});

test("says within which time half of the calls ended, and that 95 of 100 took longer than it counts", () => {
  const [model] = modelActivity(workers, { tenant: "acme", allTenants: false });
  expect(model?.medianDuration).toMatchObject({ seconds: 0n, nanos: 100_000_000 });
  expect(model?.p95Duration).toBeUndefined();
});
