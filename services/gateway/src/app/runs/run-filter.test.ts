import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { RunFilterSchema } from "@reeve/contracts/run";
import {
  CountRunsRequestSchema,
  ListRunsRequestSchema,
  RunSchema,
  RunStatus,
} from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { memoryPorts } from "../../../test/support/memory-ports.ts";
import { listRuns } from "../list-runs.ts";
import { costliestRuns } from "./costliest-runs.ts";
import { countRuns } from "./count-runs.ts";

type Filter = MessageInitShape<typeof RunFilterSchema>;
type Part = MessageInitShape<typeof RunSchema>;

const never = new AbortController().signal;
const { COMPLETED, ERROR, RUNNING } = RunStatus;
const secondMs = 1_000;

/** Creates runs of `acme`, one each second, named after their places: the first is 1. */
async function withRuns(...parts: readonly Part[]) {
  const { runs, runLists } = memoryPorts();
  for (const [index, part] of parts.entries()) {
    const row = create(RunSchema, {
      runId: `run_${String(index + 1).padStart(8, "0")}`,
      createdAt: timestampFromMs((index + 1) * secondMs),
      status: COMPLETED,
      ...part,
    });
    await runs.put(`acme.${row.runId}`, row, never);
  }
  const page = async (request: MessageInitShape<typeof ListRunsRequestSchema>, tenant = "acme") => {
    const wanted = create(ListRunsRequestSchema, request);
    const { items, nextPageToken } = await listRuns(runLists, tenant, wanted, never);
    return { numbers: items.map(({ runId }) => Number(runId.slice(4))), nextPageToken };
  };
  const count = (filter: Filter, intervalMs?: number, tenant = "acme") => {
    const interval = intervalMs === undefined ? {} : { interval: durationFromMs(intervalMs) };
    const wanted = create(CountRunsRequestSchema, { filter, ...interval });
    return countRuns(runLists, tenant, wanted, never);
  };
  const costliest = async (filter: Filter) => {
    const wanted = create(ListRunsRequestSchema, { filter, pageSize: 2 });
    const found = await costliestRuns({ runs, runLists }, "acme", wanted, never);
    return found.runs.map(({ runId }) => Number(runId.slice(4)));
  };
  return { page, count, costliest };
}

const parts: readonly Part[] = [
  { agentId: "payer", threadId: "thr_1", startedBy: "ann", labels: { team: "blue", eu: "" } },
  { agentId: "payer", startedBy: "bob", cost: { costUsd: 0.5 }, inputPreview: "Pay the Zoë bill" },
  { agentId: "writer", startedBy: "ann", status: ERROR, cost: { costUsd: 2 } },
  { agentId: "writer", labels: { team: "red" }, status: RUNNING, failedSubtasks: 2 },
  { agentId: "writer", threadId: "thr_1", cost: {}, failedSubtasks: 0 },
];
const at = (second: number) => timestampFromMs(second * secondMs);

test.each<[string, Filter, number[]]>([
  ["nothing", {}, [5, 4, 3, 2, 1]],
  ["an agent", { agentId: "payer" }, [2, 1]],
  ["statuses", { statuses: [ERROR, RUNNING] }, [4, 3]],
  ["a thread", { threadId: "thr_1" }, [5, 1]],
  ["a thread and an agent", { threadId: "thr_1", agentId: "payer" }, [1]],
  ["who started them", { startedBy: "ann" }, [3, 1]],
  ["who started them, and an agent", { startedBy: "ann", agentId: "writer" }, [3]],
  ["a label", { labels: { team: "blue" } }, [1]],
  ["a label with any value", { labels: { team: "" } }, [4, 1]],
  ["a label without a value", { labels: { eu: "" } }, [1]],
  ["two labels", { labels: { team: "red", eu: "" } }, []],
  ["a name that every object has", { labels: { constructor: "" } }, []],
  ["a start", { createdAfter: at(3) }, [5, 4, 3]],
  ["an end", { createdBefore: at(3) }, [2, 1]],
  ["a time", { createdAfter: at(2), createdBefore: at(4) }, [3, 2]],
  ["a time that is empty", { createdAfter: at(4), createdBefore: at(2) }, []],
  ["a cost", { minCostUsd: 0.5 }, [3, 2]],
  ["failed subtasks", { hasFailedSubtasks: true }, [4]],
  ["a text of the input", { text: "ZOË" }, [2]],
  ["a part of the id", { text: "00004" }, [4]],
])(
  "a list has the runs that match %s, newest first, and they are counted",
  async (_, filter, expected) => {
    const { page, count } = await withRuns(...parts);
    const { statuses = [] } = await count(filter);
    expect(statuses.reduce((sum, each) => sum + (each.count ?? 0), 0)).toBe(expected.length);
    expect(await page({ filter })).toEqual({ numbers: expected, nextPageToken: "" });
    expect((await page({ filter }, "globex")).numbers).toEqual([]);
  },
);

test("the fields of a request select in addition to its filter", async () => {
  const { page } = await withRuns(...parts);
  const numbers = async (...request: Parameters<typeof page>) => (await page(...request)).numbers;
  expect(await numbers({ agentId: "writer", filter: { threadId: "thr_1" } })).toEqual([5]);
  expect(await numbers({ agentId: "writer", filter: { agentId: "payer" } })).toEqual([]);
  expect(await numbers({ statuses: [ERROR], filter: { statuses: [ERROR, RUNNING] } })).toEqual([3]);
  expect(await numbers({ statuses: [ERROR], filter: { statuses: [RUNNING] } })).toEqual([]);
  expect(await numbers({ statuses: [ERROR], filter: {} })).toEqual([3]);
});

test("pages of a filtered list neither hide nor repeat runs", async () => {
  const { page } = await withRuns(...parts);
  const filter = { createdAfter: at(2) };
  const first = await page({ filter, pageSize: 2 });
  const second = await page({ filter, pageSize: 2, pageToken: first.nextPageToken });
  expect([first.numbers, second.numbers, second.nextPageToken]).toEqual([[5, 4], [3, 2], ""]);
});

test("one request searches 1,000 runs, and the next page continues there", async () => {
  const many = Array.from({ length: 1_100 }, (_, index) => ({
    inputPreview: index === 0 ? "rare" : "common",
  }));
  const { page } = await withRuns(...many);
  const first = await page({ filter: { text: "rare" } });
  expect(first.numbers).toEqual([]);
  const second = await page({ filter: { text: "rare" }, pageToken: first.nextPageToken });
  expect(second).toEqual({ numbers: [1], nextPageToken: "" });
});

test("runs are counted by status and by time, with what they cost", async () => {
  const { count } = await withRuns(...parts);
  const { statuses, ...counted } = await count({}, 2 * secondMs);
  const sorted = statuses?.toSorted((a, b) => (a.status ?? 0) - (b.status ?? 0));
  expect(sorted).toEqual([
    { status: RUNNING, count: 1 },
    { status: COMPLETED, count: 3 },
    { status: ERROR, count: 1 },
  ]);
  expect(counted).toEqual({
    costUsd: 2.5,
    isPartial: false,
    intervals: [
      { start: at(0), runs: 1, failed: 0, costUsd: 0 },
      { start: at(2), runs: 2, failed: 1, costUsd: 2.5 },
      { start: at(4), runs: 2, failed: 0, costUsd: 0 },
    ],
  });
});

test("only runs of the tenant that match are counted, and by time only on request", async () => {
  const { count } = await withRuns(...parts);
  expect(await count({ startedBy: "ann", statuses: [ERROR] })).toEqual({
    statuses: [{ status: ERROR, count: 1 }],
    costUsd: 2,
    intervals: [],
    isPartial: false,
  });
  expect((await count({}, undefined, "globex")).statuses).toEqual([]);
});

test("runs are counted alike by the columns of the index and by what is in them", async () => {
  const { count } = await withRuns(...parts.map((part) => ({ inputPreview: "common", ...part })));
  const indexed = await count({ createdAfter: at(2), agentId: "writer" }, 2 * secondMs);
  const searched = await count({ createdAfter: at(2), agentId: "writer", text: "COMMON" }, 2_000);
  expect(searched).toEqual(indexed);
  expect(indexed.intervals).toHaveLength(2);
});

test("runs with much text are counted, too", async () => {
  const labels = { text: "x".repeat(1_000), team: "" };
  const { count } = await withRuns(...Array.from({ length: 1_500 }, () => ({ labels })));
  expect(await count({ labels: { team: "" } })).toMatchObject({
    statuses: [{ status: COMPLETED, count: 1_500 }],
    isPartial: false,
  });
});

test("the newest 10,000 runs are counted", async () => {
  const { count } = await withRuns(...Array.from({ length: 10_001 }, () => ({})));
  const { statuses, isPartial } = await count({});
  expect({ statuses, isPartial }).toEqual({
    statuses: [{ status: COMPLETED, count: 10_000 }],
    isPartial: true,
  });
});

test("lists the most expensive runs first, with what they have cost so far", async () => {
  const { costliest } = await withRuns(
    { cost: { costUsd: 1 } },
    { spentUsd: 3, status: RUNNING },
    { cost: { costUsd: 2 } },
    { cost: {} },
  );
  expect(await costliest({})).toEqual([2, 3]);
  expect(await costliest({ statuses: [COMPLETED] })).toEqual([3, 1]);
  await expect(costliest({ text: "bill" })).rejects.toMatchObject({ kind: "invalid" });
  await expect(costliest({ hasFailedSubtasks: true })).rejects.toMatchObject({ kind: "invalid" });
});

test("names the parts of a filter that the list by cost cannot have, and what to do", async () => {
  const { costliest } = await withRuns({ cost: { costUsd: 1 }, failedSubtasks: 1 });
  const filter = { hasFailedSubtasks: true, labels: { team: "" }, agentId: "payer" };
  await expect(costliest(filter)).rejects.toThrow(
    "filter: the list by cost cannot be filtered by labels and failed subtasks; list the newest runs first, or leave out this part of the filter",
  );
});
