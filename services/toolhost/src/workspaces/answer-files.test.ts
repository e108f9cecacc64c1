import { create } from "@bufbuild/protobuf";
import { WorkspaceFilesRequestSchema } from "@reeve/contracts/tool";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { MemoryArtifactStore } from "@reeve/jetstream/objects/memory-artifact-store";
import { expect, test } from "vitest";
import type { Workspaces } from "@reeve/calls/ports/workspaces";
import { answerFiles } from "./answer-files.ts";
import { Shares } from "@reeve/platform/async/shares";
import { never } from "../../test/support/memory-workspaces.ts";

const artifacts = new MemoryArtifactStore({ maxBytes: 1_000 });

/** What is answered about a workspace that breaks, and the input files that it was opened with. */
async function answered(id: string) {
  const laid: string[] = [];
  const workspaces: Workspaces = {
    open: ({ files }) => {
      laid.push(...files.map(({ path }) => path));
      return Promise.reject(new Error("it is enough to have seen that"));
    },
  };
  const shares = new Shares({ all: 1, each: 1, waiting: 1 });
  const log = createLogger("test", "silent");
  const { outcome } = await answerFiles(askedIn(id), { workspaces, artifacts, shares, log }, never);
  return { laid, outcome };
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
  expect(await answered("run_1")).toMatchObject({ laid: ["data.csv"] });
  expect(await answered("thread-t1")).toMatchObject({ laid: [] });
});

test("an error of ours is answered too, without what it says", async () => {
  const { outcome } = await answered("run_1");
  expect(outcome).toMatchObject({ case: "refused", value: { kind: "unavailable" } });
  expect(JSON.stringify(outcome)).not.toContain("it is enough");
});
