import { create } from "@bufbuild/protobuf";
import { ToolCallRequestSchema } from "@reeve/contracts/tool";
import { MemoryArtifactStore } from "@reeve/jetstream/objects/memory-artifact-store";
import { png } from "@reeve/jetstream/test/support/files/png";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { storeAttachments } from "./store-attachments.ts";

const request = create(ToolCallRequestSchema, {
  tenant: "acme",
  runId: "run_1",
  call: { callId: "run_1-2-0", name: "shoot" },
});
const ports = {
  artifacts: new MemoryArtifactStore({ maxBytes: 10_000_000 }),
  storeTimeoutMs: 10_000,
  outage: { answers: async () => undefined },
  log: createLogger("test", "silent"),
};

test("the images of a result that a model can read are its files", async () => {
  const attachments = [
    { label: "image 1", mediaType: "image/png", bytes: png(640, 480) },
    { label: "image 2", mediaType: "image/png", bytes: png(100_000, 1) },
    { label: "image 3", mediaType: "image/png", bytes: Buffer.from("none") },
    { label: "audio 4", mediaType: "audio/wav", bytes: Buffer.from("RIFF....WAVE") },
  ];
  const { note, files } = await storeAttachments(
    request,
    attachments,
    ports,
    new AbortController().signal,
  );
  expect(files).toMatchObject([{ name: "image 1", width: 640, height: 480 }]);
  expect(note).toContain(`image 1 is ${files[0]?.artifactId}`);
  expect(note).toContain("audio 4 is");
});
