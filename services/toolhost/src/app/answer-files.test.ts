import { create } from "@bufbuild/protobuf";
import { WorkspaceFilesRequestSchema } from "@reeve/contracts/tool";
import { MemoryArtifactStore } from "@reeve/store/memory-artifact-store";
import { expect, test } from "vitest";
import type { Workspaces } from "../ports/workspaces.ts";
import { answerFiles } from "./answer-files.ts";
import { never } from "./testing-workspaces.ts";

const artifacts = new MemoryArtifactStore({ maxBytes: 1_000 });

/** What clients ask for in a workspace, by the names of the input files that it was opened with. */
async function laidFor(id: string) {
  const laid: string[] = [];
  const workspaces: Workspaces = {
    open: ({ files }) => {
      laid.push(...files.map(({ path }) => path));
      return Promise.reject(new Error("it is enough to have seen that"));
    },
  };
  await answerFiles(askedIn(id), { workspaces, artifacts }, never).catch(() => undefined);
  return laid;
}

function askedIn(id: string) {
  return create(WorkspaceFilesRequestSchema, {
    tenant: "acme",
    runId: "run_1",
    workspace: { id, files: [{ artifactId: "art_1", path: "data.csv" }] },
    operation: { case: "list", value: { most: 10 } },
  });
}

test("looking at the files of a run lays in its input files, looking at those of a thread does not", async () => {
  expect(await laidFor("run_1")).toEqual(["data.csv"]);
  expect(await laidFor("thread-t1")).toEqual([]);
});
