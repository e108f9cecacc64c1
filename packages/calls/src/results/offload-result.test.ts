import type { JsonObject } from "@bufbuild/protobuf";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import {
  ToolCallFactSchema,
  ToolCallRequestSchema,
  ToolCallSchema,
  ToolStatus,
} from "@reeve/contracts/tool";
import { Failure } from "@reeve/platform/failure";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { ArtifactStore } from "@reeve/jetstream/objects/artifact-store";
import { MemoryArtifactStore } from "@reeve/jetstream/objects/memory-artifact-store";
import { describe, expect, test } from "vitest";
import type { ToolOutcome } from "../ports/tool.ts";
import { resultFact } from "../journal/journal-facts.ts";
import { offloadResult } from "./offload-result.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");

function shown(
  outcome: Omit<ToolOutcome, "isError">,
  artifacts: Pick<ArtifactStore, "put">,
  { resultBytes = 2_000, keepMs = 10_000, name = "tell", signal = never } = {},
) {
  const request = create(ToolCallRequestSchema, {
    tenant: "acme",
    runId: "run_1",
    call: { callId: "run_1-2-0", name },
    settings: { resultBytes },
  });
  const performed = { isError: false, status: ToolStatus.SUCCESS, executionTimeMs: 1, ...outcome };
  return offloadResult(request, performed, { artifacts, keepMs, log }, signal);
}

async function wholeOf(artifacts: ArtifactStore, artifactId = ""): Promise<string> {
  const chunks = await Array.fromAsync(artifacts.read("acme", artifactId, never));
  return Buffer.concat(chunks).toString();
}

function failing(error: Error): Pick<ArtifactStore, "put"> {
  return {
    put: async () => {
      throw error;
    },
  };
}

const store = () => new MemoryArtifactStore({ maxBytes: 10_000_000 });
const long = { content: "x".repeat(5_000) };

describe("a text", () => {
  test("that the model can read is shown as it is", async () => {
    const artifacts = store();
    const result = await shown({ content: "short", structured: { a: 1 } }, artifacts);
    expect(result).toMatchObject({ content: "short", structured: { a: 1 } });
    expect(result.artifactId).toBeUndefined();
    expect(await artifacts.list("acme", never)).toEqual([]);
  });

  // Requirement: META-1, META-4, LOOP-7
  test("that is larger is kept whole, and shown in part with the way to the rest", async () => {
    const artifacts = store();
    const content = `begin ${"é".repeat(5_000)} end`;
    const result = await shown({ content }, artifacts);
    expect(Buffer.byteLength(result.content)).toBeLessThanOrEqual(2_000);
    expect(result.content).toMatch(/^begin .*10010 bytes in all; call retrieve_artifact .* end$/s);
    expect(result.content).toContain(result.artifactId);
    expect(await wholeOf(artifacts, result.artifactId)).toBe(content);
    expect(await artifacts.list("acme", never)).toMatchObject([
      { runId: "run_1", name: "tell-result.txt", mediaType: "text/plain; charset=utf-8" },
    ]);
  });

  test.each([
    ["exactly as large as may be", 2_000, 0],
    ["one byte larger", 2_001, 1],
  ])("%s is kept or not", async (_, size, kept) => {
    const artifacts = store();
    await shown({ content: "x".repeat(size) }, artifacts);
    expect(await artifacts.list("acme", never)).toHaveLength(kept);
  });

  // Requirement: LOOP-7
  test("may be as long as the request says, within reason", async () => {
    const content = "x".repeat(2_000_000);
    const sizeFor = async (resultBytes: number) =>
      Buffer.byteLength((await shown({ content }, store(), { resultBytes })).content);
    expect(await sizeFor(0)).toBe(50_000);
    expect(await sizeFor(200_000)).toBe(200_000);
    expect(await sizeFor(4_000_000_000)).toBe(500_000);
    expect(await sizeFor(1)).toBe(1_000);
  });

  test("of a tool that a model made up is no name of a file", async () => {
    const artifacts = store();
    await shown(long, artifacts, { name: "../../etc/passwd\n" });
    expect(await artifacts.list("acme", never)).toMatchObject([{ name: "tool-result.txt" }]);
  });
});

describe("a record", () => {
  test("stays a record, and names the artifact in a field of its own", async () => {
    const artifacts = store();
    const structured = { stdout: `begin${"\n".repeat(10_000)}end`, success: true };
    const result = await shown({ content: JSON.stringify(structured), structured }, artifacts);
    expect(JSON.parse(result.content)).toEqual(result.structured);
    expect(result.structured).toMatchObject({
      stdout: expect.stringMatching(/^begin\n+\[cut: 10008 bytes in all\]\n+end$/) as string,
      success: true,
      offloaded: expect.stringContaining(result.artifactId ?? "none") as string,
    });
    expect(Buffer.byteLength(result.content)).toBeLessThanOrEqual(2_000);
    expect(JSON.parse(await wholeOf(artifacts, result.artifactId))).toEqual(structured);
  });

  test("that is large beside a short text is kept for itself", async () => {
    const artifacts = store();
    const structured = { list: ["x".repeat(10_000)] };
    const result = await shown({ content: "short", structured }, artifacts);
    expect(result.content).toBe(
      `short\n[artifacts: the structured result is ${result.artifactId}]`,
    );
    expect(result.structured).toBeUndefined();
    expect(JSON.parse(await wholeOf(artifacts, result.artifactId))).toEqual(structured);
  });

  test("that its text says already, however it is laid out, is not kept twice", async () => {
    const artifacts = store();
    const structured = { list: Array.from({ length: 1_000 }, (_, index) => index) };
    const content = JSON.stringify(structured, null, 2);
    const result = await shown({ content, structured }, artifacts);
    expect(result.structured).toBeUndefined();
    expect(await artifacts.list("acme", never)).toMatchObject([
      { mediaType: "application/json", artifactId: result.artifactId },
    ]);
    expect(await wholeOf(artifacts, result.artifactId)).toBe(content);
  });
});

describe("a picture", () => {
  const picture = { label: "image 1", mediaType: "image/png", bytes: Buffer.from([137, 80, 0]) };

  test("is kept, and the model told where", async () => {
    const artifacts = store();
    const result = await shown({ content: "[image 1]", attachments: [picture] }, artifacts);
    expect(result.content).toBe(`[image 1]\n[artifacts: image 1 is ${result.artifactId}]`);
    expect(await artifacts.list("acme", never)).toMatchObject([
      { name: "tell-result-image-1.png", mediaType: "image/png", sizeBytes: 3 },
    ]);
  });

  test("beside a long text is kept as well as the text", async () => {
    const artifacts = store();
    const attachments = [picture, { ...picture, label: "image 2" }];
    const result = await shown({ ...long, attachments }, artifacts);
    expect(result.content).toMatch(
      /5000 bytes in all.*\[artifacts: image 1 is .*, image 2 is .*\]$/s,
    );
    expect(Buffer.byteLength(result.content)).toBeLessThanOrEqual(2_000);
    expect(await artifacts.list("acme", never)).toHaveLength(3);
    expect(await wholeOf(artifacts, result.artifactId)).toBe(long.content);
  });

  test("of a type that is none is a file of bytes", async () => {
    const artifacts = store();
    const mediaType = `image/png\r\nX-Evil: ${"x".repeat(1_000)}`;
    await shown({ content: "", attachments: [{ ...picture, mediaType }] }, artifacts);
    expect(await artifacts.list("acme", never)).toMatchObject([
      { name: "tell-result-image-1.bin", mediaType: "application/octet-stream" },
    ]);
  });

  test("among too many is not kept, and the model told how many are not", async () => {
    const attachments = Array.from({ length: 1_000 }, (_, n) => ({
      ...picture,
      label: `image ${n + 1}`,
    }));
    const artifacts = store();
    const result = await shown({ ...long, attachments }, artifacts, { resultBytes: 1_000 });
    expect(result.content).toMatch(/image 8 is art_\w+, 992 more were not kept\]$/);
    expect(Buffer.byteLength(result.content)).toBeLessThanOrEqual(1_000);
    expect(await artifacts.list("acme", never)).toHaveLength(9);
  });
});

describe("the same call", () => {
  test("makes one artifact, however often it is made", async () => {
    const artifacts = store();
    const first = await shown(long, artifacts);
    expect(await shown(long, artifacts)).toEqual(first);
    expect(await artifacts.list("acme", never)).toHaveLength(1);
  });

  test("says so when another attempt of it gave something else", async () => {
    const artifacts = store();
    const first = await shown(long, artifacts);
    const second = await shown({ content: "y".repeat(6_000) }, artifacts);
    expect(second.artifactId).toBe(first.artifactId);
    expect(second.content).toContain("what an earlier attempt of this call gave");
  });
});

describe("a store that does not take it costs the rest of the result and not the call", () => {
  const full = failing(new Failure("exhausted", ErrorReason.STORAGE_FULL, "the store is full"));

  test.each([
    ["it is full", full, "could not be kept: the store is full"],
    ["it breaks", failing(new TypeError("a secret detail")), "could not be kept: the store broke"],
    ["it is silent", { put: () => new Promise<never>(() => undefined) }, "did not take it within"],
  ])("because %s", async (_, broken, problem) => {
    const result = await shown(long, broken, { keepMs: 20 });
    expect(result.content).toContain(problem);
    expect(result.content).not.toContain("secret");
    expect(result.content.startsWith("xxx")).toBe(true);
    expect(result.artifactId).toBeUndefined();
  });

  test("with a word on each picture, and without trying for all of them", async () => {
    let tries = 0;
    const broken: Pick<ArtifactStore, "put"> = {
      put: (...given) => {
        tries++;
        return full.put(...given);
      },
    };
    const attachments = Array.from({ length: 3 }, (_, n) => ({
      label: `image ${n + 1}`,
      mediaType: "image/png",
      bytes: Buffer.from("x"),
    }));
    const result = await shown({ content: "see", attachments }, broken);
    expect(result.content).toBe(
      "see\n[artifacts: image 1 could not be kept, 2 more were not kept]",
    );
    expect(tries).toBe(1);
  });

  test("unless the call itself is not wanted any more", async () => {
    const stop = new AbortController();
    const silent = {
      put: () => {
        stop.abort(new Error("enough"));
        return new Promise<never>(() => undefined);
      },
    };
    await expect(shown(long, silent, { signal: stop.signal })).rejects.toThrow("enough");
  });
});

const numbers = Array.from({ length: 120_000 }, () => 0);
const attacks: readonly (readonly [string, JsonObject])[] = [
  ["many numbers", { numbers }],
  ["many empty records", { numbers: numbers.map(() => ({})) }],
  ["many fields", Object.fromEntries(numbers.map((_, index) => [`k${index}`, index]))],
  ["text that grows when it is escaped", { text: "\u0001".repeat(400_000) }],
  ["halves of characters", { text: "\ud800".repeat(400_000) }],
  ["a deep nest", nest(30)],
  ["a deeper nest than readers of messages follow", nest(900)],
];

describe("a result always fits into one message that can be read", () => {
  test.each(attacks)("with %s", async (_, structured) => {
    for (const content of [JSON.stringify(structured), "\ud800".repeat(400_000)]) {
      const result = await shown({ content, structured }, store(), { resultBytes: 500_000 });
      const call = create(ToolCallSchema, { callId: "run_1-2-0", name: "tell" });
      const fact = resultFact(call, result, timestampNow());
      const message = toBinary(ToolCallFactSchema, fact);
      expect(message.length).toBeLessThan(540_000);
      expect(fromBinary(ToolCallFactSchema, message).fact.case).toBe("result");
      expect(Buffer.byteLength(result.content)).toBeLessThanOrEqual(500_000);
    }
  });
});

function nest(depth: number): JsonObject {
  let record: JsonObject = {};
  for (let level = 0; level < depth; level++) record = { in: record };
  return record;
}
