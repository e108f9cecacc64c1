import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { RunFilterSchema } from "@reeve/contracts/run";
import { CountRunsRequestSchema, RunSchema, RunStatus } from "@reeve/contracts/run";
import { ManualClock } from "@reeve/platform/test/support/manual-clock";
import { expect, test } from "vitest";
import { memoryPorts } from "../../../test/support/memory-ports.ts";
import { SharedCounts } from "./shared-counts.ts";

const never = new AbortController().signal;

function opened() {
  const { runs, runLists } = memoryPorts();
  const clock = new ManualClock();
  const counts = new SharedCounts(runLists, clock);
  let added = 0;
  const add = async (tenant: string) => {
    const runId = `run_${++added}`;
    const row = create(RunSchema, { runId, status: RunStatus.COMPLETED });
    await runs.put(`${tenant}.${runId}`, row, never);
  };
  const total = async (tenant: string, filter: MessageInitShape<typeof RunFilterSchema> = {}) => {
    const request = create(CountRunsRequestSchema, { filter });
    const { statuses = [] } = await counts.count(tenant, request, never);
    return statuses.reduce((sum, { count = 0 }) => sum + count, 0);
  };
  return { clock, counts, add, total };
}

test("the same question is answered from the same count for five seconds", async () => {
  const { clock, add, total } = opened();
  await add("acme");
  expect(await total("acme")).toBe(1);
  await add("acme");
  await clock.advance(4_999);
  expect([await total("acme"), await total("acme", { agentId: "" })]).toEqual([1, 1]);
  await clock.advance(1);
  expect(await total("acme")).toBe(2);
});

test("another filter and another tenant have counts of their own", async () => {
  const { add, total } = opened();
  await add("acme");
  expect(await total("acme")).toBe(1);
  expect(await total("acme", { agentId: "other" })).toBe(0);
  expect(await total("globex")).toBe(0);
});

test("a caller that leaves takes no count from those who wait for the same one", async () => {
  const { counts, add } = opened();
  await add("acme");
  const leaving = new AbortController();
  const request = create(CountRunsRequestSchema, {});
  const left = counts.count("acme", request, leaving.signal);
  const waiting = counts.count("acme", request, never);
  leaving.abort(new Error("left"));
  await expect(left).rejects.toThrow("left");
  expect((await waiting).statuses).toEqual([{ status: RunStatus.COMPLETED, count: 1 }]);
});

test("one tenant may wait for 21 different counts, and is refused more", async () => {
  const { counts, add } = opened();
  await add("acme");
  const asked = Array.from({ length: 30 }, (_, index) =>
    counts.count("acme", create(CountRunsRequestSchema, { filter: { text: `${index}` } }), never),
  );
  const settled = await Promise.allSettled(asked);
  const refused = settled.filter(({ status }) => status === "rejected");
  expect(refused).toHaveLength(9);
  expect(refused[0]).toMatchObject({ reason: { kind: "unavailable", retryAfterMs: 1_000 } });
  // What was refused is counted when it is asked for again.
  const again = create(CountRunsRequestSchema, { filter: { text: "29" } });
  expect(await counts.count("acme", again, never)).toMatchObject({ isPartial: false });
});
