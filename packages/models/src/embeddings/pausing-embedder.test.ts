import { ErrorReason } from "@reeve/contracts/error";
import type { Embedder } from "@reeve/knowledge/vectors/embedder";
import { Failure } from "@reeve/platform/failure";
import { expect, test } from "vitest";
import { pausingEmbedder } from "./pausing-embedder.ts";

const never = new AbortController().signal;

function embedderOf(embed: () => ReturnType<Embedder["embed"]>) {
  const seen = { calls: 0, nowMs: 100_000 };
  const embedder: Embedder = {
    model: "test:m",
    embed: async () => {
      seen.calls += 1;
      return await embed();
    },
  };
  return { seen, paused: pausingEmbedder(embedder, { now: () => seen.nowMs }) };
}

// Requirement: KNOW-5
test("a model that does not answer in time is left alone for a while", async () => {
  const { promise } = Promise.withResolvers<never>();
  const { seen, paused } = embedderOf(() => promise);
  await expect(paused.embed(["a"], never, 10)).rejects.toThrow("test:m did not answer in 0.01");
  await expect(paused.embed(["a"], never, 10)).rejects.toThrow("tried again in 15 seconds");
  expect(seen.calls).toBe(1);
  seen.nowMs += 15_000;
  await expect(paused.embed(["a"], never, 10)).rejects.toThrow("did not answer in");
  expect(seen.calls).toBe(2);
});

// Requirement: KNOW-5
test("a text that the model refuses, and a caller who leaves, pause nothing", async () => {
  const refusal = new Failure("invalid", ErrorReason.INVALID_REQUEST, "refused");
  const { seen, paused } = embedderOf(async () => await Promise.reject(refusal));
  for (let call = 1; call <= 2; call++) {
    await expect(paused.embed(["a"], never)).rejects.toBe(refusal);
    expect(seen.calls).toBe(call);
  }
  await expect(paused.embed(["a"], AbortSignal.abort(new Error("left")))).rejects.toThrow("left");
  await expect(paused.embed(["a"], never)).rejects.toBe(refusal);
});
