import { create } from "@bufbuild/protobuf";
import { WorkspaceFilesRequestSchema } from "@reeve/contracts/tool";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { MemoryArtifactStore } from "@reeve/jetstream/objects/memory-artifact-store";
import { expect, test } from "vitest";
import type { Workspaces } from "@reeve/calls/ports/workspaces";
import { answerFiles } from "./answer-files.ts";
import { KeyedSemaphore } from "@reeve/platform/async/coordination/keyed-semaphore";
import { never } from "../../test/support/memory-workspaces.ts";

const artifacts = new MemoryArtifactStore({ maxBytes: 1_000 });

/** Returns the answer about a workspace that fails to open, and the input files that it was opened with. */
async function answered(id: string) {
  const staged: string[] = [];
  const workspaces: Workspaces = {
    open: ({ files }) => {
      staged.push(...files.map(({ path }) => path));
      return Promise.reject(new Error("an internal detail"));
    },
  };
  const permits = new KeyedSemaphore({ permits: 1, permitsPerKey: 1, maxWaitingPerKey: 1 });
  const log = createLogger("test", "silent");
  const { outcome } = await answerFiles(
    listRequest(id),
    { workspaces, artifacts, permits, log },
    never,
  );
  return { staged, outcome };
}

function listRequest(id: string) {
  return create(WorkspaceFilesRequestSchema, {
    tenant: "acme",
    runId: "run_1",
    workspace: { id, files: [{ artifactId: "art_1", path: "data.csv" }] },
    operation: { case: "list", value: { most: 10 } },
  });
}

test("listing the files of a run stages its input files, listing those of a thread does not", async () => {
  expect(await answered("run_1")).toMatchObject({ staged: ["data.csv"] });
  expect(await answered("thread-t1")).toMatchObject({ staged: [] });
});

test("an internal error is answered too, without its detail", async () => {
  const { outcome } = await answered("run_1");
  expect(outcome).toMatchObject({ case: "refused", value: { kind: "unavailable" } });
  expect(JSON.stringify(outcome)).not.toContain("internal detail");
});
