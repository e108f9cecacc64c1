import { createHash } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import {
  ResultExtent,
  ToolCallFactSchema,
  ToolCallRequestSchema,
  ToolCallSchema,
} from "@reeve/contracts/tool";
import { Failure } from "@reeve/platform/failure";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { ArtifactStore } from "@reeve/jetstream/objects/artifact-store";
import { MemoryArtifactStore } from "@reeve/jetstream/objects/memory-artifact-store";
import { describe, expect, test } from "vitest";
import type { CallResult } from "../ports/tool.ts";
import { resultFact } from "../journal/journal-facts.ts";
import { offloadResult } from "./offload-result.ts";

const never = new AbortController().signal;
const log = createLogger("test", "silent");

function offloaded(
  partial: Omit<CallResult, "isError">,
  artifacts: Pick<ArtifactStore, "put">,
  {
    resultBytes = 2_000,
    storeTimeoutMs = 10_000,
    name = "echo",
    signal = never,
    cannotRetrieve = false,
  } = {},
) {
  const request = create(ToolCallRequestSchema, {
    tenant: "acme",
    runId: "run_1",
    call: { callId: "run_1-2-0", name },
    settings: { resultBytes, cannotRetrieve },
  });
  const result = { isError: false, executionTimeMs: 1, ...partial };
  const outage = { answers: async () => undefined };
  return offloadResult(request, result, { artifacts, storeTimeoutMs, outage, log }, signal);
}

async function storedText(artifacts: ArtifactStore, artifactId = ""): Promise<string> {
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
  test("that fits is unchanged", async () => {
    const artifacts = store();
    const result = await offloaded({ content: "short", structured: { a: 1 } }, artifacts);
    expect(result).toMatchObject({ content: "short", structured: { a: 1 } });
    expect(result.artifact?.artifactId).toBeUndefined();
    expect(result.extent).toBeUndefined();
    expect(await artifacts.list("acme", never)).toEqual([]);
  });

  // Requirement: META-1, META-4, LOOP-7
  test("that is too long is stored whole, and shown in part with a note on how to read the rest", async () => {
    const artifacts = store();
    const content = `begin ${"é".repeat(5_000)} end`;
    const result = await offloaded({ content }, artifacts);
    expect(Buffer.byteLength(result.content)).toBeLessThanOrEqual(2_000);
    expect(result.content).toMatch(/^begin .*10010 bytes in all; call retrieve_artifact .* end$/s);
    expect(result.extent).toBe(ResultExtent.PART);
    expect(result.content).toContain(result.artifact?.artifactId);
    expect(await storedText(artifacts, result.artifact?.artifactId)).toBe(content);
    const sha256 = createHash("sha256").update(content).digest("hex");
    expect(result.artifact?.sha256).toBe(sha256);
    expect(await artifacts.list("acme", never)).toMatchObject([
      { runId: "run_1", name: "echo-result.txt", mediaType: "text/plain; charset=utf-8" },
    ]);
  });

  // Requirement: META-4
  test("that is too long names no tool that the model lacks", async () => {
    const content = `begin ${"é".repeat(5_000)} end`;
    const result = await offloaded({ content }, store(), { cannotRetrieve: true });
    expect(result.content).toContain(
      `10010 bytes in all, kept as artifact ${result.artifact?.artifactId}]`,
    );
    expect(result.content).not.toContain("retrieve_artifact");
  });

  test.each([
    ["exactly as large as may be", 2_000, 0],
    ["one byte larger", 2_001, 1],
  ])("%s is stored or not", async (_, size, kept) => {
    const artifacts = store();
    await offloaded({ content: "x".repeat(size) }, artifacts);
    expect(await artifacts.list("acme", never)).toHaveLength(kept);
  });

  // Requirement: LOOP-7
  test("may be as long as the request says, within bounds", async () => {
    const content = "x".repeat(2_000_000);
    const sizeFor = async (resultBytes: number) =>
      Buffer.byteLength((await offloaded({ content }, store(), { resultBytes })).content);
    expect(await sizeFor(0)).toBe(50_000);
    expect(await sizeFor(200_000)).toBe(200_000);
    expect(await sizeFor(4_000_000_000)).toBe(500_000);
    expect(await sizeFor(1)).toBe(1_000);
  });

  test("of a tool with an invalid name is stored under a valid file name", async () => {
    const artifacts = store();
    await offloaded(long, artifacts, { name: "../../etc/passwd\n" });
    expect(await artifacts.list("acme", never)).toMatchObject([{ name: "tool-result.txt" }]);
  });
});

describe("a record", () => {
  test("stays a record, and names the artifact in an additional field", async () => {
    const artifacts = store();
    const structured = { stdout: `begin${"\n".repeat(10_000)}end`, success: true };
    const result = await offloaded({ content: JSON.stringify(structured), structured }, artifacts);
    expect(JSON.parse(result.content)).toEqual(result.structured);
    expect(result.structured).toMatchObject({
      stdout: expect.stringMatching(/^begin\n+\[cut: 10008 bytes in all\]\n+end$/) as string,
      success: true,
      offloaded: expect.stringContaining(result.artifact?.artifactId ?? "none") as string,
    });
    expect(Buffer.byteLength(result.content)).toBeLessThanOrEqual(2_000);
    expect(JSON.parse(await storedText(artifacts, result.artifact?.artifactId))).toEqual(
      structured,
    );
  });

  test("that is large beside a short text is stored separately", async () => {
    const artifacts = store();
    const structured = { list: ["x".repeat(10_000)] };
    const result = await offloaded({ content: "short", structured }, artifacts);
    expect(result.content).toBe(
      `short\n[artifacts: the structured result is ${result.artifact?.artifactId}]`,
    );
    expect(result.structured).toBeUndefined();
    expect(result.extent).toBe(ResultExtent.RECORD_DROPPED);
    expect(JSON.parse(await storedText(artifacts, result.artifact?.artifactId))).toEqual(
      structured,
    );
  });

  test("that is too large beside its whole JSON as text loses nothing", async () => {
    const structured = { list: Array.from({ length: 3_000 }, (_, index) => index % 10) };
    const content = JSON.stringify(structured);
    const result = await offloaded({ content, structured }, store(), { resultBytes: 50_000 });
    expect([result.content, result.structured, result.extent, result.artifact]).toEqual([
      content,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("whose text is its JSON, in whatever format, is not stored twice", async () => {
    const artifacts = store();
    const structured = { list: Array.from({ length: 1_000 }, (_, index) => index) };
    const content = JSON.stringify(structured, null, 2);
    const result = await offloaded({ content, structured }, artifacts);
    expect(result.structured).toBeUndefined();
    expect(await artifacts.list("acme", never)).toMatchObject([
      { mediaType: "application/json", artifactId: result.artifact?.artifactId },
    ]);
    expect(await storedText(artifacts, result.artifact?.artifactId)).toBe(content);
  });
});

describe("a picture", () => {
  const picture = { label: "image 1", mediaType: "image/png", bytes: Buffer.from([137, 80, 0]) };

  test("is stored, and the content names its artifact", async () => {
    const artifacts = store();
    const result = await offloaded({ content: "[image 1]", attachments: [picture] }, artifacts);
    expect(result.content).toBe(
      `[image 1]\n[artifacts: image 1 is ${result.artifact?.artifactId}]`,
    );
    expect(await artifacts.list("acme", never)).toMatchObject([
      { name: "echo-result-image-1.png", mediaType: "image/png", sizeBytes: 3 },
    ]);
  });

  test("beside a long text is stored as well as the text", async () => {
    const artifacts = store();
    const attachments = [picture, { ...picture, label: "image 2" }];
    const result = await offloaded({ ...long, attachments }, artifacts);
    expect(result.content).toMatch(
      /5000 bytes in all.*\[artifacts: image 1 is .*, image 2 is .*\]$/s,
    );
    expect(Buffer.byteLength(result.content)).toBeLessThanOrEqual(2_000);
    expect(await artifacts.list("acme", never)).toHaveLength(3);
    expect(await storedText(artifacts, result.artifact?.artifactId)).toBe(long.content);
  });

  test("of an invalid media type is stored as bytes", async () => {
    const artifacts = store();
    const mediaType = `image/png\r\nX-Evil: ${"x".repeat(1_000)}`;
    await offloaded({ content: "", attachments: [{ ...picture, mediaType }] }, artifacts);
    expect(await artifacts.list("acme", never)).toMatchObject([
      { name: "echo-result-image-1.bin", mediaType: "application/octet-stream" },
    ]);
  });

  test("beyond the limit is not stored, and the content says how many are missing", async () => {
    const attachments = Array.from({ length: 1_000 }, (_, n) => ({
      ...picture,
      label: `image ${n + 1}`,
    }));
    const artifacts = store();
    const result = await offloaded({ ...long, attachments }, artifacts, { resultBytes: 1_000 });
    expect(result.content).toMatch(/image 8 is art_\w+, 992 more were not stored\]$/);
    expect(Buffer.byteLength(result.content)).toBeLessThanOrEqual(1_000);
    expect(await artifacts.list("acme", never)).toHaveLength(9);
  });
});

describe("the same call", () => {
  test("makes one artifact, however often it is executed", async () => {
    const artifacts = store();
    const first = await offloaded(long, artifacts);
    expect(await offloaded(long, artifacts)).toEqual(first);
    expect(await artifacts.list("acme", never)).toHaveLength(1);
  });

  test("says so when an earlier attempt stored something else", async () => {
    const artifacts = store();
    const first = await offloaded(long, artifacts);
    const second = await offloaded({ content: "y".repeat(6_000) }, artifacts);
    expect(second.artifact?.artifactId).toBe(first.artifact?.artifactId);
    expect(second.content).toContain("what an earlier attempt of this call gave");
  });
});

describe("a store that fails costs the rest of the result and not the call", () => {
  const full = failing(new Failure("exhausted", ErrorReason.STORAGE_FULL, "the store is full"));

  test.each([
    ["it is full", full, "could not be stored: the store is full"],
    [
      "it breaks",
      failing(new TypeError("a secret detail")),
      "could not be stored: the store broke",
    ],
    ["it is silent", { put: () => new Promise<never>(() => undefined) }, "did not take it within"],
  ])("when %s", async (_, broken, problem) => {
    const result = await offloaded(long, broken, { storeTimeoutMs: 20 });
    expect(result.content).toContain(problem);
    expect(result.content).not.toContain("secret");
    expect(result.content.startsWith("xxx")).toBe(true);
    expect(result.artifact?.artifactId).toBeUndefined();
  });

  test("and is not tried for the other attachments", async () => {
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
    const result = await offloaded({ content: "see", attachments }, broken);
    expect(result.content).toBe(
      "see\n[artifacts: image 1 could not be stored, 2 more were not stored]",
    );
    expect(tries).toBe(1);
  });

  test("unless the call itself is cancelled", async () => {
    const stop = new AbortController();
    const silent = {
      put: () => {
        stop.abort(new Error("enough"));
        return new Promise<never>(() => undefined);
      },
    };
    await expect(offloaded(long, silent, { signal: stop.signal })).rejects.toThrow("enough");
  });
});

const numbers = Array.from({ length: 120_000 }, () => 0);
const attacks: readonly (readonly [string, JsonObject])[] = [
  ["many numbers", { numbers }],
  ["many empty records", { numbers: numbers.map(() => ({})) }],
  ["many fields", Object.fromEntries(numbers.map((_, index) => [`k${index}`, index]))],
  ["text that grows when escaped", { text: "\u0001".repeat(400_000) }],
  ["unpaired surrogates", { text: "\ud800".repeat(400_000) }],
  ["a deeply nested record", nest(30)],
  ["a record that is nested too deeply to read", nest(900)],
];

describe("a result always fits in one readable message", () => {
  test.each(attacks)("with %s", async (_, structured) => {
    for (const content of [JSON.stringify(structured), "\ud800".repeat(400_000)]) {
      const result = await offloaded({ content, structured }, store(), { resultBytes: 500_000 });
      const call = create(ToolCallSchema, { callId: "run_1-2-0", name: "echo" });
      const fact = resultFact(call, result, { startedAt: timestampNow() });
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
