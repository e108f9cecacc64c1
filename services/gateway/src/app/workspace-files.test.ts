import { create } from "@bufbuild/protobuf";
import type { WorkspaceFilesRequest } from "@reeve/contracts/tool";
import { WorkspaceFilesResponseSchema, WorkspaceRecordSchema } from "@reeve/contracts/tool";
import { anyHost } from "@reeve/contracts/rules/workspace-id";
import { expect, test } from "vitest";
import { appendFacts, memoryPorts } from "../../test/support/memory-ports.ts";
import type { FilesPorts } from "./workspace-files.ts";
import { listFiles } from "./workspace-files.ts";

const never = new AbortController().signal;
const run = { tenant: "acme", runId: "run_00000001" };
const all = { path: "", recursive: true, maxEntries: 10, after: "" };

/** The revision of the unsaved changes, and the toolhosts that are present. */
interface State {
  readonly revision?: number;
  readonly present?: readonly string[];
}

/** Creates a run whose workspace `holder` holds; only the toolhosts in `living` answer. */
async function portsWith(
  holder: string,
  living: readonly string[],
  { revision = 0, present = [] }: State = {},
) {
  const { log, workspaces } = memoryPorts();
  const requested: (readonly [string, WorkspaceFilesRequest])[] = [];
  await appendFacts(log, run.runId, { case: "runCreated", value: { tenant: "acme" } });
  const record = create(WorkspaceRecordSchema, { tenant: "acme", id: run.runId, holder, revision });
  await workspaces.records.put(`acme.${run.runId}`, record, never);
  const ports: FilesPorts = {
    log,
    records: workspaces.records,
    requestFiles: (host, request) => {
      requested.push([host, request]);
      const outcome = { case: "list" as const, value: { entries: [{ path: host }] } };
      const answer = create(WorkspaceFilesResponseSchema, { outcome });
      return Promise.resolve(living.includes(host) ? answer : undefined);
    },
    isPresent: (host) => Promise.resolve(present.includes(host)),
  };
  return { ports, requested };
}

test("the request goes to the toolhost that holds the files", async () => {
  const { ports } = await portsWith("host-a", ["host-a", anyHost]);
  expect((await listFiles(ports, run, all, never)).entries).toMatchObject([{ path: "host-a" }]);
});

test("if that toolhost is gone, the request goes to any other, for the tenant of the credential", async () => {
  const { ports, requested } = await portsWith("host-a", [anyHost]);
  expect((await listFiles(ports, run, all, never)).entries).toMatchObject([{ path: anyHost }]);
  expect(requested.map(([host]) => host)).toEqual(["host-a", anyHost]);
  expect(requested[1]?.[1]).toMatchObject({ tenant: "acme", workspace: { id: run.runId } });
  const other = listFiles(ports, { ...run, tenant: "other" }, all, never);
  await expect(other).rejects.toMatchObject({ kind: "not_found" });
});

test("unsaved files are not requested from another toolhost while their holder is present", async () => {
  const unsaved = { revision: 1, present: ["host-a"] };
  const { ports, requested } = await portsWith("host-a", [anyHost], unsaved);
  await expect(listFiles(ports, run, all, never)).rejects.toMatchObject({ kind: "unavailable" });
  expect(requested.map(([host]) => host)).toEqual(["host-a"]);
});

test.each([
  ["are saved", { revision: 0, present: ["host-a"] }],
  ["were held by a toolhost that is gone", { revision: 1, present: [] }],
])("files that %s are requested from another toolhost", async (_, given) => {
  const { ports } = await portsWith("host-a", [anyHost], given);
  expect((await listFiles(ports, run, all, never)).entries).toMatchObject([{ path: anyHost }]);
});

test("without any toolhost, the request is unavailable", async () => {
  const { ports } = await portsWith("host-a", []);
  await expect(listFiles(ports, run, all, never)).rejects.toMatchObject({ kind: "unavailable" });
});
