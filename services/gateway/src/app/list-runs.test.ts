import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ListRunsRequestSchema, RunSchema, RunStatus } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { memoryPorts } from "../../test/support/memory-ports.ts";
import { listRuns } from "./list-runs.ts";

const never = new AbortController().signal;

/** Creates runs of `acme`, by the last letter of their ids and in the order of their creation. */
async function withRuns(letters: string) {
  const { runs, runLists } = memoryPorts();
  for (const [index, letter] of Array.from(letters).entries()) {
    const row = create(RunSchema, {
      runId: `run_0000000${letter}`,
      agentId: index % 2 === 0 ? "even" : "odd",
      threadId: index % 2 === 0 ? "t" : "",
      status: index === 0 ? RunStatus.WAITING : RunStatus.COMPLETED,
      createdAt: timestampFromMs(1_000 + Math.floor(index / 2)),
    });
    await runs.put(`acme.${row.runId}`, row, never);
  }
  return { runs, runLists };
}

async function listed(
  { runLists }: Awaited<ReturnType<typeof withRuns>>,
  request = {},
  tenant = "acme",
) {
  const wanted = create(ListRunsRequestSchema, request);
  const { items, nextPageToken } = await listRuns(runLists, tenant, wanted, never);
  return { letters: items.map(({ runId }) => runId.at(-1)).join(""), nextPageToken };
}

test("runs are listed newest first, and by id within one millisecond", async () => {
  expect((await listed(await withRuns("abcde"))).letters).toBe("edcba");
});

test("pages neither hide nor repeat runs that start in between", async () => {
  const known = await withRuns("abcde");
  const first = await listed(known, { pageSize: 2 });
  const newer = create(RunSchema, {
    runId: "run_0000000z",
    createdAt: timestampFromMs(9_000),
  });
  await known.runs.put(`acme.${newer.runId}`, newer, never);
  const second = await listed(known, { pageSize: 2, pageToken: first.nextPageToken });
  const third = await listed(known, { pageSize: 2, pageToken: second.nextPageToken });
  expect([first.letters, second.letters, third.letters]).toEqual(["ed", "cb", "a"]);
  expect(third.nextPageToken).toBe("");
});

test("only matching runs are listed", async () => {
  const known = await withRuns("abcde");
  expect((await listed(known, { agentId: "odd" })).letters).toBe("db");
  expect((await listed(known, { threadId: "t" })).letters).toBe("eca");
  expect((await listed(known, { statuses: [RunStatus.WAITING] })).letters).toBe("a");
  expect((await listed(known, { statuses: [RunStatus.ERROR] })).letters).toBe("");
});

test("a page token of another tenant shows nothing of that tenant", async () => {
  const known = await withRuns("abcde");
  const { nextPageToken } = await listed(known, { pageSize: 1 });
  expect((await listed(known, { pageToken: nextPageToken }, "globex")).letters).toBe("");
});
