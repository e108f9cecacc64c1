import type { JsonObject } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import { ToolCallRequestSchema, ToolStatus } from "@reeve/contracts/tool";
import { Failure } from "@reeve/platform/failure";
import { createLogger } from "@reeve/platform/logger";
import type { ArtifactStore } from "@reeve/store/artifact-store";
import { MemoryArtifactStore } from "@reeve/store/memory-artifact-store";
import { expect, test } from "vitest";
import { offloadResult } from "./offload-result.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");
const request = create(ToolCallRequestSchema, {
  tenant: "acme",
  runId: "run_1",
  call: { callId: "run_1-2-0", name: "tell" },
  settings: { resultBytes: 2_000 },
});

function shown(
  content: string,
  artifacts: Pick<ArtifactStore, "put">,
  structured?: JsonObject,
): ReturnType<typeof offloadResult> {
  const outcome = { content, isError: false, status: ToolStatus.SUCCESS, executionTimeMs: 1 };
  return offloadResult(
    request,
    { ...outcome, ...(structured && { structured }) },
    { artifacts, log },
    never,
  );
}

async function wholeOf(artifacts: ArtifactStore, artifactId = ""): Promise<string> {
  const chunks = await Array.fromAsync(artifacts.read("acme", artifactId, never));
  return Buffer.concat(chunks).toString();
}

const store = () => new MemoryArtifactStore({ maxBytes: 1_000_000 });

test("a result that the model can read is shown as it is", async () => {
  const result = await shown("short", store(), { a: 1 });
  expect(result).toMatchObject({ content: "short", structured: { a: 1 } });
  expect(result.artifactId).toBeUndefined();
});

test("a larger one is kept whole, and shown in part with the way to the rest", async () => {
  const artifacts = store();
  const content = `begin ${"é".repeat(5_000)} end`;
  const result = await shown(content, artifacts);
  expect(Buffer.byteLength(result.content)).toBeLessThanOrEqual(2_000);
  expect(result.content).toMatch(/^begin .*10010 bytes in all; call retrieve_artifact .* end$/s);
  expect(result.content).toContain(result.artifactId);
  expect(await wholeOf(artifacts, result.artifactId)).toBe(content);
});

test("a record stays a record, and names the artifact in a field of its own", async () => {
  const artifacts = store();
  const record = { stdout: "x".repeat(10_000), success: true };
  const result = await shown(JSON.stringify(record), artifacts, record);
  expect(JSON.parse(result.content)).toEqual(result.structured);
  expect(result.structured).toMatchObject({
    success: true,
    offloaded: expect.stringContaining(result.artifactId ?? "none"),
  });
  expect(Buffer.byteLength(result.content)).toBeLessThanOrEqual(2_000);
  expect(JSON.parse(await wholeOf(artifacts, result.artifactId))).toEqual(record);
});

test("a structured form that is large by itself is left out", async () => {
  const result = await shown("short", store(), { list: ["x".repeat(10_000)] });
  expect(result).toMatchObject({ content: "short" });
  expect(result.structured).toBeUndefined();
});

test("the same call makes one artifact, however often it is made", async () => {
  const artifacts = store();
  const first = await shown("x".repeat(5_000), artifacts);
  const second = await shown("y".repeat(5_000), artifacts);
  expect(second.artifactId).toBe(first.artifactId);
  expect(await artifacts.list("acme", never)).toHaveLength(1);
});

test("a store that does not take it costs the rest of the result and not the call", async () => {
  const broken: Pick<ArtifactStore, "put"> = {
    put: () =>
      Promise.reject(new Failure("exhausted", ErrorReason.STORAGE_FULL, "the store is full")),
  };
  const result = await shown("x".repeat(5_000), broken);
  expect(result.content).toContain("could not be kept: the store is full");
  expect(result.artifactId).toBeUndefined();
});
