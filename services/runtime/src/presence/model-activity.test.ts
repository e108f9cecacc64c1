import { create } from "@bufbuild/protobuf";
import { ModelSpecSchema } from "@reeve/contracts/agent";
import type { EndedModelCall } from "@reeve/models/registry/ended-model-call";
import { ManualClock } from "@reeve/platform/test/support/manual-clock";
import { expect, test } from "vitest";
import { ModelActivity } from "./model-activity.ts";

const minuteMs = 60_000;
function call(tenant: string, runId: string, parts: Partial<EndedModelCall> = {}): EndedModelCall {
  return {
    model: create(ModelSpecSchema, { provider: "openai", upstreamName: "large" }),
    owner: { tenant, runId },
    usage: { inputTokens: 1_000_000, outputTokens: 500_000, costUsd: 2 },
    durationMs: 300,
    ...parts,
  };
}

test("counts calls, failures, tokens, and cost of each tenant", () => {
  const activity = new ModelActivity(new ManualClock(0));
  activity.count(call("acme", "run_1"));
  activity.count(call("acme", "run_2", { usage: undefined, durationMs: 400_000 }));
  activity.count(call("globex", "run_3"));
  const [acme, globex] = activity.rows();
  expect(acme).toMatchObject({
    tenant: "acme",
    provider: "openai",
    model: "large",
    calls: 2,
    failures: 1,
    inputTokens: 1_000_000n,
    costUsd: 2,
    failedRunIds: ["run_2"],
  });
  // The third limit is half a second, and the last number counts what took longer than all limits.
  expect(acme?.durations).toEqual([0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
  expect(globex).toMatchObject({ tenant: "globex", calls: 1, failedRunIds: [] });
});

test("forgets calls after an hour", async () => {
  const clock = new ManualClock(0);
  const activity = new ModelActivity(clock);
  activity.count(call("acme", "run_1"));
  await clock.advance(59 * minuteMs);
  activity.count(call("acme", "run_2"));
  expect(activity.rows()).toMatchObject([{ calls: 2 }]);
  await clock.advance(minuteMs);
  expect(activity.rows()).toMatchObject([{ calls: 1 }]);
  await clock.advance(60 * minuteMs);
  expect(activity.rows()).toEqual([]);
});
