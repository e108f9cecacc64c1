import { create } from "@bufbuild/protobuf";
import type { WorkspaceFilesRequest } from "@reeve/contracts/tool";
import { WorkspaceFilesResponseSchema, WorkspaceRecordSchema } from "@reeve/contracts/tool";
import { anyHost } from "@reeve/contracts/workspace-id";
import { expect, test } from "vitest";
import { appendFacts, memoryPorts } from "../../test/support/memory-ports.ts";
import type { FilesPorts } from "./workspace-files.ts";
import { listFiles } from "./workspace-files.ts";

const never = new AbortController().signal;
const run = { tenant: "acme", runId: "run_00000001" };
const all = { path: "", recursive: true, most: 10, after: "" };

/** What is saved of the files, and which toolhosts count as living. */
interface Surroundings {
  readonly revision?: number;
  readonly present?: readonly string[];
}

/** A run whose workspace `holder` has, and toolhosts of which those of `living` answer. */
async function portsWith(
  holder: string,
  living: readonly string[],
  { revision = 0, present = [] }: Surroundings = {},
) {
  const { log, workspaces } = memoryPorts();
  const asked: (readonly [string, WorkspaceFilesRequest])[] = [];
  await appendFacts(log, run.runId, { case: "runCreated", value: { tenant: "acme" } });
  const record = create(WorkspaceRecordSchema, { tenant: "acme", id: run.runId, holder, revision });
  await workspaces.records.put(`acme.${run.runId}`, record, never);
  const ports: FilesPorts = {
    log,
    records: workspaces.records,
    requestFiles: (host, request) => {
      asked.push([host, request]);
      const outcome = { case: "list" as const, value: { entries: [{ path: host }] } };
      const answer = create(WorkspaceFilesResponseSchema, { outcome });
      return Promise.resolve(living.includes(host) ? answer : undefined);
    },
    isPresent: (host) => Promise.resolve(present.includes(host)),
  };
  return { ports, asked };
}

test("the toolhost that has the files is asked for them", async () => {
  const { ports } = await portsWith("host-a", ["host-a", anyHost]);
  expect((await listFiles(ports, run, all, never)).entries).toMatchObject([{ path: "host-a" }]);
});

test("when that one is gone any other is, for the tenant of the credential", async () => {
  const { ports, asked } = await portsWith("host-a", [anyHost]);
  expect((await listFiles(ports, run, all, never)).entries).toMatchObject([{ path: anyHost }]);
  expect(asked.map(([host]) => host)).toEqual(["host-a", anyHost]);
  expect(asked[1]?.[1]).toMatchObject({ tenant: "acme", workspace: { id: run.runId } });
  const other = listFiles(ports, { ...run, tenant: "other" }, all, never);
  await expect(other).rejects.toMatchObject({ kind: "not_found" });
});

test("nobody else is asked for what is not saved while the one that has it counts as living", async () => {
  const unsaved = { revision: 1, present: ["host-a"] };
  const { ports, asked } = await portsWith("host-a", [anyHost], unsaved);
  await expect(listFiles(ports, run, all, never)).rejects.toMatchObject({ kind: "unavailable" });
  expect(asked.map(([host]) => host)).toEqual(["host-a"]);
});

test.each([
  ["is saved", { revision: 0, present: ["host-a"] }],
  ["was of one that is gone", { revision: 1, present: [] }],
])("another one is asked for what %s", async (_, given) => {
  const { ports } = await portsWith("host-a", [anyHost], given);
  expect((await listFiles(ports, run, all, never)).entries).toMatchObject([{ path: anyHost }]);
});

test("without any it is said that there is none", async () => {
  const { ports } = await portsWith("host-a", []);
  await expect(listFiles(ports, run, all, never)).rejects.toMatchObject({ kind: "unavailable" });
});
