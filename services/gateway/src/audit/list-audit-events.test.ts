import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { AuditEventSchema, ListAuditEventsRequestSchema } from "@reeve/contracts/audit";
import { MemoryAuditTrail } from "@reeve/jetstream/audit/memory";
import { ManualClock } from "@reeve/platform/test/support/manual-clock";
import { expect, test } from "vitest";
import { listAuditEvents } from "./list-audit-events.ts";

const minute = 60_000;
const noon = Date.parse("2030-01-01T12:00:00Z");
const never = new AbortController().signal;
const isRead = (action: string) => action === "run.watch";

test("an event of a gateway whose clock is slow hides no other ones", async () => {
  const clock = new ManualClock(noon);
  const trail = new MemoryAuditTrail(clock);
  const append = async (eventId: string, timeMs: number) => {
    const event = create(AuditEventSchema, {
      eventId,
      tenant: "acme",
      time: timestampFromMs(timeMs),
    });
    await trail.append(event, { usesReserve: false });
  };
  await append("old", clock.now());
  await clock.advance(60 * minute);
  await append("one", clock.now());
  await append("slow", clock.now() - 300 * minute);
  await append("two", clock.now());
  const listed = async (window: { readonly since?: number; readonly until?: number }) => {
    const { since, until } = window;
    const request = create(ListAuditEventsRequestSchema, {
      ...(since !== undefined && { startTime: timestampFromMs(since) }),
      ...(until !== undefined && { endTime: timestampFromMs(until) }),
    });
    const { items } = await listAuditEvents(trail, "acme", { request, isRead }, never);
    return items.map(({ eventId }) => eventId);
  };
  expect(await listed({ since: noon + 30 * minute })).toEqual(["two", "one"]);
  expect(await listed({ until: noon + 30 * minute })).toEqual(["old"]);
  expect(await listed({})).toEqual(["two", "slow", "one", "old"]);
});

test("a server of NATS whose clock is slow hides no event that another one stored", async () => {
  let nowMs = noon;
  const trail = new MemoryAuditTrail({ now: () => nowMs });
  const append = async (eventId: string, storedMs: number) => {
    nowMs = storedMs;
    const time = timestampFromMs(noon);
    const event = create(AuditEventSchema, { eventId, tenant: "acme", time });
    await trail.append(event, { usesReserve: false });
  };
  await append("before", noon);
  await append("stored by a slow server", noon - 60 * minute);
  await append("after", noon);
  const startTime = timestampFromMs(noon - minute);
  const request = create(ListAuditEventsRequestSchema, { startTime });
  const { items } = await listAuditEvents(trail, "acme", { request, isRead }, never);
  const ids = items.map(({ eventId }) => eventId);
  expect(ids).toEqual(["after", "stored by a slow server", "before"]);
});

test("without reads, a refused read is listed, and one that succeeded is not", async () => {
  const trail = new MemoryAuditTrail({ now: () => noon });
  for (const [action, code] of [
    ["run.start", "OK"],
    ["run.watch", "OK"],
    ["run.watch", "CANCELLED"],
    ["run.watch", "PERMISSION_DENIED"],
  ] as const) {
    const event = { eventId: `${action} ${code}`, tenant: "acme", action, code };
    const time = timestampFromMs(noon);
    await trail.append(create(AuditEventSchema, { ...event, time }), { usesReserve: false });
  }
  const request = create(ListAuditEventsRequestSchema, { withoutReads: true });
  const { items } = await listAuditEvents(trail, "acme", { request, isRead }, never);
  const ids = items.map(({ eventId }) => eventId);
  expect(ids).toEqual(["run.watch PERMISSION_DENIED", "run.start OK"]);
});
