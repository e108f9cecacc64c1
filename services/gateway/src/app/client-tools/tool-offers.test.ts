import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import type { ToolOffer } from "@reeve/contracts/tool";
import { ToolDescriptorSchema, ToolOfferSchema } from "@reeve/contracts/tool";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import type { Failure } from "@reeve/platform/failure";
import { expect, test } from "vitest";
import { keepOffer } from "./keep-offer.ts";
import { packedWatch, packOffer } from "./packed-offer.ts";
import { ToolOffers } from "./tool-offers.ts";

const never = new AbortController().signal;
const page = { tenant: "acme", scope: "thread-t", clientId: "page", subject: "ann", tools: [] };

test("an offer whose row the store has removed does not replace a new one", async () => {
  const nowMs = Date.now();
  const renewedAt = timestampFromMs(nowMs - 30_000);
  const old = create(ToolOfferSchema, { ...page, streamId: "old", generation: 5, renewedAt });
  const offers = new ToolOffers(
    new MemoryTable<ToolOffer>(),
    () => [packOffer(old)],
    () => nowMs,
  );
  const held = await offers.open({ ...page, streamId: "new" }, never);
  expect(held.isReplaced()).toBe(false);
  expect(await held.renew(never)).toBe(true);
});

test("a credential offers tools through 256 clients at most, over all threads", async () => {
  const nowMs = Date.now();
  const others = Array.from({ length: 256 }, (_, index) =>
    create(ToolOfferSchema, {
      ...page,
      scope: `thread-${index}`,
      renewedAt: timestampFromMs(nowMs),
    }),
  );
  const offers = new ToolOffers(
    new MemoryTable<ToolOffer>(),
    () => others.map(packOffer),
    () => nowMs,
  );
  const another = offers.open({ ...page, streamId: "new" }, never);
  await expect(another).rejects.toMatchObject({ reason: ErrorReason.TOO_MANY_CLIENTS });
  await offers.open({ ...page, subject: "ben", streamId: "new" }, never);
});

function notAnswering() {
  return Promise.reject(new Error("the store does not answer"));
}

test("a stream ends when its offer could not be renewed for a minute", async () => {
  const { promise: failed, resolve: fail } = Promise.withResolvers<Failure>();
  let nowMs = 0;
  const offer = { renew: notAnswering, replaced: never };
  const now = () => (nowMs += 20_000);
  using _ = keepOffer(offer, { clientId: "page", now, intervalMs: 1 }, fail, never);
  expect(await failed).toMatchObject({ kind: "unavailable" });
});

/** Tools of two megabytes. */
const large = [create(ToolDescriptorSchema, { name: "t", description: "a".repeat(2_000_000) })];

test("a credential offers tools that take 16 MiB at most, and a replacing offer counts too", async () => {
  const nowMs = Date.now();
  const others = Array.from({ length: 7 }, (_, index) =>
    packOffer(
      create(ToolOfferSchema, {
        ...page,
        scope: `thread-${index}`,
        tools: large,
        renewedAt: timestampFromMs(nowMs),
      }),
    ),
  );
  const offers = new ToolOffers(
    new MemoryTable<ToolOffer>(),
    () => others,
    () => nowMs,
  );
  const offer = (scope: string, tools = large) =>
    offers.open({ ...page, scope, tools, streamId: scope }, never);
  await offer("thread-7");
  await offer("thread-small", []);
  await expect(offer("thread-8")).rejects.toMatchObject({ reason: ErrorReason.TOO_MANY_CLIENTS });
  const larger = offer("thread-0", [...large, ...large]);
  await expect(larger).rejects.toMatchObject({ reason: ErrorReason.TOO_MANY_CLIENTS });
});

test("streams that open at the same time share the room that is left", async () => {
  const offers = new ToolOffers(new MemoryTable<ToolOffer>(), () => [], Date.now);
  const opened = await Promise.allSettled(
    Array.from({ length: 10 }, (_, index) =>
      offers.open({ ...page, scope: `thread-${index}`, tools: large, streamId: "s" }, never),
    ),
  );
  expect(opened.filter(({ status }) => status === "fulfilled")).toHaveLength(8);
});

test("a stream learns at once that another one has replaced it", async () => {
  const offers = new ToolOffers(new MemoryTable<ToolOffer>(), () => [], Date.now);
  const first = await offers.open({ ...page, streamId: "first" }, never);
  const second = await offers.open({ ...page, streamId: "second" }, never);
  expect([first.replaced.aborted, second.replaced.aborted]).toEqual([true, false]);
});

test("what is kept of the offers of other gateways has no decoded tools", async () => {
  const table = new MemoryTable<ToolOffer>();
  await table.put("acme.thread-t.page", create(ToolOfferSchema, { ...page, tools: large }), never);
  for await (const change of packedWatch(table).watch("", never)) {
    if (change.kind === "current") break;
    expect(change).toMatchObject({ row: { record: { tools: expect.any(Uint8Array) as unknown } } });
  }
});

test("many small values count as the memory that they take", () => {
  const examples = [Array.from({ length: 1_000 }, () => ({}))];
  const tools = [create(ToolDescriptorSchema, { name: "t", inputSchema: { examples } })];
  expect(packOffer(create(ToolOfferSchema, { ...page, tools })).size).toBeGreaterThan(64_000);
});
