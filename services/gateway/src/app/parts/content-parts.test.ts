import { create } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import { QueueHolderSchema } from "@reeve/contracts/queue";
import { OnBusy, StartRunRequestSchema } from "@reeve/contracts/run";
import type { ContentPart } from "@reeve/contracts/content/parts";
import { Failure } from "@reeve/platform/failure";
import { cancelRun } from "@reeve/run/commands/cancel-run";
import { describe, expect, test } from "vitest";
import { png } from "@reeve/jetstream/test/support/files/png";
import type { StartInit } from "../../../test/support/content-parts.ts";
import {
  createdIn,
  file,
  image,
  ports,
  putIn,
  sentFiles,
  smallImage,
  start,
  storedIn,
} from "../../../test/support/content-parts.ts";
import { withMethod } from "../../../test/support/with-method.ts";
import { ann } from "../../../test/support/memory-ports.ts";
import { sendMessage } from "../send-message.ts";
import { startRun } from "../start-run.ts";

const never = new AbortController().signal;

describe("an image in the input of a run", () => {
  test("becomes an artifact of the run, to which the log refers", async () => {
    const all = await ports();
    const { run } = await start(all, { parts: [image()] });
    const [artifact] = await storedIn(all);
    expect(artifact).toMatchObject({ runId: run.runId, createdBy: "ann", name: "photo.png" });
    const part = (await createdIn(all, run.runId))?.parts[0]?.part;
    expect(part).toMatchObject({
      case: "file",
      value: { artifactId: artifact?.artifactId, width: 640, height: 480, mediaType: "image/png" },
    });
    expect(part?.case === "file" && part.value.content.length).toBe(0);
  });

  test("is stored once, however often the request is repeated", async () => {
    const all = await ports();
    const init = { parts: [image(), image()], requestId: "r" };
    const runs = await Promise.all([start(all, init), start(all, init)]);
    runs.push(await start(all, init));
    expect(new Set(runs.map(({ run }) => run.runId)).size).toBe(1);
    expect(await storedIn(all)).toHaveLength(1);
  });

  test("may be an artifact that was uploaded before", async () => {
    const all = await ports();
    const draft = { name: "a.png", mediaType: "image/png", runId: "" };
    const { artifactId } = await all.artifacts.put("acme", draft, smallImage(), never);
    const { run } = await start(all, { parts: [file({ artifactId })] });
    expect((await createdIn(all, run.runId))?.parts[0]?.part.value).toMatchObject({
      artifactId,
      name: "a.png",
      width: 3,
      height: 4,
    });
    expect(await storedIn(all)).toHaveLength(1);
  });

  test("is deleted again if the thread of the run is busy", async () => {
    const all = await ports();
    const inThread = { threadId: "t", onBusy: OnBusy.REJECT };
    await start(all, inThread);
    const reason = ErrorReason.THREAD_BUSY;
    await expect(start(all, { ...inThread, parts: [image()] })).rejects.toMatchObject({ reason });
    expect(await storedIn(all)).toEqual([]);
  });
});

describe("parts that are refused store nothing", () => {
  const tooLarge = new Uint8Array(21 * 1024 * 1024);
  const cases: readonly (readonly [why: string, StartInit, object])[] = [
    [
      "an image of 10^10 pixels",
      { parts: [image(png(100_000, 100_000))] },
      { reason: "TOO_LARGE" },
    ],
    ["a wrong media type", { parts: [image(png(), "image/jpeg")] }, { field: "parts[0].file" }],
    [
      "a media type that no model reads",
      { parts: [image(png(), "text/csv")] },
      { field: "parts[0].file.media_type", reason: "UNKNOWN_MEDIA_TYPE" },
    ],
    [
      "an artifact that does not exist",
      { parts: [file({ artifactId: "art_x" })] },
      { reason: "NOT_FOUND" },
    ],
    [
      "a file without content",
      { parts: [file({ mediaType: "image/png" })] },
      { reason: "CONTRADICTION" },
    ],
    [
      "a name with a folder",
      { parts: [file({ content: png(), mediaType: "image/png", name: "../x" })] },
      { field: "parts[0].file.name" },
    ],
    ["the second of two", { parts: [image(), image(tooLarge)] }, { field: "parts[1].file" }],
  ];

  test.each(cases)("%s", async (_, init, violation) => {
    const all = await ports();
    await expect(start(all, { ...init, requestId: "r" })).rejects.toMatchObject({
      reason: ErrorReason.INVALID_REQUEST,
      violations: [expect.objectContaining(violation)],
    });
    expect(await storedIn(all)).toEqual([]);
    expect(all.dispatch.length).toBe(0);
  });

  // Requirement: DUR-6, RES-2
  test.each(["blind", "careful"])("a model of the agent %s does not read them", async (agentId) => {
    const all = await ports();
    await expect(start(all, { agentId, parts: [image()] })).rejects.toMatchObject({
      kind: "unsupported",
      reason: ErrorReason.UNSUPPORTED_CAPABILITY,
      message: expect.stringContaining(`the model "reads" reads text only`),
      violations: [{ field: "parts[0].file" }],
    });
    expect(await storedIn(all)).toEqual([]);
  });

  test("a runtime is alive that would ignore them", async () => {
    const all = await ports();
    const holder = create(QueueHolderSchema, { holder: "runtime-old", checks: [] });
    await all.holders.put("runtime-old", holder, never);
    await expect(start(all, { parts: [image()] })).rejects.toMatchObject({
      reason: ErrorReason.RUNTIME_OUTDATED,
    });
    expect(await storedIn(all)).toEqual([]);
  });
});

describe("a message with an image", () => {
  test("is sent once, and another image under its id is refused", async () => {
    const all = await ports();
    const { run } = await start(all, {});
    const message = { runId: run.runId, text: "and this?", messageId: "m", parts: [image()] };
    const sent = await sendMessage(all, ann, message, never);
    expect(await sendMessage(all, ann, message, never)).toEqual(sent);
    expect(await storedIn(all)).toHaveLength(1);
    const other = { ...message, parts: [image(png(5, 5))] };
    await expect(sendMessage(all, ann, other, never)).rejects.toMatchObject({
      reason: ErrorReason.REQUEST_ID_REUSED,
    });
    expect(await storedIn(all)).toHaveLength(1);
  });

  test("is refused if the model of the run does not read it", async () => {
    const all = await ports();
    const { run } = await start(all, { agentId: "blind" });
    const message = { runId: run.runId, text: "and this?", messageId: "m", parts: [image()] };
    await expect(sendMessage(all, ann, message, never)).rejects.toMatchObject({
      reason: ErrorReason.UNSUPPORTED_CAPABILITY,
    });
    expect(await storedIn(all)).toEqual([]);
  });

  test("keeps its file when another message with the same file fails", async () => {
    const all = await ports();
    const { run } = await start(all, {});
    const send = (messageId: string, ...parts: readonly ContentPart[]) =>
      sendMessage(all, ann, { runId: run.runId, text: "see", messageId, parts }, never);
    const full = new Failure("exhausted", ErrorReason.QUOTA_EXCEEDED, "full");
    const second = file({ content: png(2, 2), mediaType: "image/png", name: "second" });
    const put = putIn(all.artifacts, async (draft) => {
      if (draft.name !== "second") return;
      await send("b", image());
      throw full;
    });
    await expect(
      sendMessage(
        { ...all, artifacts: put },
        ann,
        { runId: run.runId, text: "see", messageId: "a", parts: [image(), second] },
        never,
      ),
    ).rejects.toBe(full);
    const stored = await storedIn(all);
    expect(stored.map(({ artifactId }) => artifactId)).toEqual(await sentFiles(all, run.runId));
  });

  test("is known when it is repeated after its artifact was deleted", async () => {
    const all = await ports();
    const { run } = await start(all, {});
    const message = { runId: run.runId, text: "and this?", messageId: "m", parts: [image()] };
    const sent = await sendMessage(all, ann, message, never);
    for (const { artifactId } of await storedIn(all)) {
      await all.artifacts.delete("acme", artifactId, never);
    }
    expect(await sendMessage(all, ann, message, never)).toEqual(sent);
    expect(await storedIn(all)).toEqual([]);
  });

  test("leaves no file if the run ends before it is appended", async () => {
    const all = await ports();
    const { run } = await start(all, {});
    const artifacts = putIn(all.artifacts, async () => {
      await cancelRun(
        all,
        { tenant: "acme", run: run.runId },
        { requestedBy: "ann", reason: "" },
        never,
      );
    });
    const message = { runId: run.runId, text: "and this?", messageId: "m", parts: [image()] };
    await expect(sendMessage({ ...all, artifacts }, ann, message, never)).rejects.toMatchObject({
      reason: ErrorReason.RUN_ENDED,
    });
    expect(await storedIn(all)).toEqual([]);
  });
});

describe("a store that is full", () => {
  const full = new Failure("exhausted", ErrorReason.STORAGE_FULL, "full");
  const filled = () => Promise.reject(full);

  test.each([
    ["a run", {}],
    ["a run of a thread", { threadId: "t" }],
  ])("keeps no file of %s that it has not stored", async (_, init) => {
    const all = await ports();
    const log = withMethod(all.log, "append", filled);
    const threads = withMethod(all.threads, "append", filled);
    const request = start({ ...all, log, threads }, { ...init, parts: [image()] });
    await expect(request).rejects.toBe(full);
    expect(await storedIn(all)).toEqual([]);
  });

  test("keeps no file of a message that it has not stored", async () => {
    const all = await ports();
    const { run } = await start(all, {});
    const message = { runId: run.runId, text: "see", messageId: "m", parts: [image()] };
    const log = withMethod(all.log, "append", filled);
    await expect(sendMessage({ ...all, log }, ann, message, never)).rejects.toBe(full);
    expect(await storedIn(all)).toEqual([]);
  });

  test("keeps the files of a run that its thread has", async () => {
    const all = await ports();
    const log = withMethod(all.log, "append", filled);
    const request = start({ ...all, log }, { threadId: "t", parts: [image()] });
    await expect(request).rejects.toBe(full);
    expect(await storedIn(all)).toHaveLength(1);
  });

  test("keeps the files of a run that was not dispatched", async () => {
    const all = await ports();
    const dispatch = withMethod(all.dispatch, "publish", filled);
    const request = start({ ...all, dispatch }, { parts: [image()] });
    await expect(request).rejects.toBe(full);
    expect(await storedIn(all)).toHaveLength(1);
  });
});

test("the files of a request are deleted although its client left", async () => {
  const all = await ports();
  const client = new AbortController();
  const artifacts = putIn(all.artifacts, (draft) => {
    if (draft.name === "second") client.abort();
    return Promise.resolve();
  });
  const second = file({ content: png(2, 2), mediaType: "image/png", name: "second" });
  const request = create(StartRunRequestSchema, {
    agentId: "writer",
    input: "look",
    parts: [image(), second],
  });
  await expect(startRun({ ...all, artifacts }, ann, request, client.signal)).rejects.toMatchObject({
    name: "AbortError",
  });
  expect(await storedIn(all)).toEqual([]);
});

test("a request that is repeated after its artifact was deleted returns its run", async () => {
  const all = await ports();
  const draft = { name: "a.png", mediaType: "image/png", runId: "" };
  const { artifactId } = await all.artifacts.put("acme", draft, smallImage(), never);
  const init = { parts: [file({ artifactId })], requestId: "r" };
  const { run } = await start(all, init);
  await all.artifacts.delete("acme", artifactId, never);
  expect((await start(all, init)).run.runId).toBe(run.runId);
});

const storesNothing = () => Promise.reject(new Error("stored"));

test("a run that no quota admits stores nothing", async () => {
  const all = await ports();
  const full = new Failure("exhausted", ErrorReason.QUOTA_EXCEEDED, "full");
  const limited = {
    ...all,
    artifactQuotas: { store: storesNothing },
    runQuotas: { ...all.runQuotas, admit: () => Promise.reject(full) },
  };
  const request = create(StartRunRequestSchema, {
    agentId: "writer",
    input: "look",
    parts: [image()],
  });
  await expect(startRun(limited, ann, request, never)).rejects.toBe(full);
});
