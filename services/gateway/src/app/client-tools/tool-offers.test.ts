import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import type { ToolOffer } from "@reeve/contracts/tool";
import { ToolOfferSchema } from "@reeve/contracts/tool";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import type { Failure } from "@reeve/platform/failure";
import { expect, test } from "vitest";
import { keepOffer } from "./keep-offer.ts";
import { ToolOffers } from "./tool-offers.ts";

const never = new AbortController().signal;
const page = { tenant: "acme", scope: "thread-t", clientId: "page", subject: "ann", tools: [] };

test("an offer whose row the store has removed does not replace a new one", async () => {
  const nowMs = Date.now();
  const renewedAt = timestampFromMs(nowMs - 30_000);
  const old = create(ToolOfferSchema, { ...page, streamId: "old", generation: 5, renewedAt });
  const offers = new ToolOffers(
    new MemoryTable<ToolOffer>(),
    () => [old],
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
    () => others,
    () => nowMs,
  );
  const another = offers.open({ ...page, streamId: "new" }, never);
  await expect(another).rejects.toMatchObject({ reason: ErrorReason.TOO_MANY_CLIENTS });
  await offers.open({ ...page, subject: "ben", streamId: "new" }, never);
});

test("a stream ends when its offer could not be renewed for a minute", async () => {
  const { promise: failed, resolve: fail } = Promise.withResolvers<Failure>();
  let nowMs = 0;
  const offer = { renew: () => Promise.reject(new Error("the store does not answer")) };
  const now = () => (nowMs += 20_000);
  using _ = keepOffer(offer, { clientId: "page", now, intervalMs: 1 }, fail, never);
  expect(await failed).toMatchObject({ kind: "unavailable" });
});
