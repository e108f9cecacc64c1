import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { AuditEvent } from "@reeve/contracts/audit";
import { AuditEventSchema } from "@reeve/contracts/audit";
import { expect, test } from "vitest";
import type { AuditStart, AuditTrail } from "../../src/audit/port.ts";
import { noTenant } from "../../src/audit/port.ts";

const never = new AbortController().signal;
const startMs = Date.UTC(2030, 0, 1);

/** An event of a tenant, a number of seconds after the first one. */
function eventAt(tenant: string, second: number): AuditEvent {
  return create(AuditEventSchema, {
    eventId: randomUUID(),
    time: timestampFromMs(startMs + second * 1_000),
    tenant,
    method: String(second),
  });
}

/** Reads everything of a tenant by parts, and returns the seconds of its events. */
async function readAll(
  trail: AuditTrail,
  tenant: string,
  { before, ...start }: AuditStart = {},
): Promise<readonly number[]> {
  const { events, olderBefore } = await trail.read(tenant, { ...start, before }, never);
  const seconds = events.map(({ event }) => Number(event.method));
  if (olderBefore === undefined) return seconds;
  // A part never contains an event of the next one.
  expect(events.every(({ position }) => position >= olderBefore)).toBe(true);
  return [...seconds, ...(await readAll(trail, tenant, { before: olderBefore }))];
}

/** The rules that every audit trail follows. `open` returns an empty one. */
export function auditContract(open: () => Promise<AuditTrail>): void {
  /** Appends an event for each tenant, and returns the trail. The time is the position in the list. */
  async function trailOf(tenants: readonly string[]): Promise<AuditTrail> {
    const trail = await open();
    for (const [second, tenant] of tenants.entries()) {
      await trail.append(eventAt(tenant, second), { usesReserve: false });
    }
    return trail;
  }

  test("an empty trail has no events", async () => {
    const trail = await open();
    expect(await trail.read("acme", {}, never)).toEqual({ events: [], olderBefore: undefined });
  });

  test("a tenant reads all of its events, newest first, and no others", async () => {
    const tenants = Array.from({ length: 300 }, (_, index) =>
      index % 100 === 7 ? "globex" : index === 150 ? "" : "acme",
    );
    const trail = await trailOf(tenants);
    const seconds = (tenant: string) =>
      tenants.flatMap((each, index) => (each === tenant ? [index] : [])).toReversed();
    expect(await readAll(trail, "acme")).toEqual(seconds("acme"));
    expect(await readAll(trail, "globex")).toEqual(seconds("globex"));
    expect(await readAll(trail, noTenant)).toEqual([150]);
    expect(await readAll(trail, "initech")).toEqual([]);
  });

  test("a read may start at a time of the store, whatever the times of the events", async () => {
    const trail = await trailOf(Array.from({ length: 40 }, (_, i) => (i % 4 === 0 ? "x" : "acme")));
    const { events } = await trail.read("acme", {}, never);
    const [newest, earlier] = [events[0]?.storedMs, events[3]?.storedMs];
    const seconds = (beforeMs = 0) =>
      events.filter(({ storedMs }) => storedMs < beforeMs).map(({ event }) => Number(event.method));
    const read = async (beforeMs = 0) =>
      (await readAll(trail, "acme", { beforeMs })).slice(0, seconds(beforeMs).length);
    expect(await read(newest)).toEqual(seconds(newest));
    expect(await read(earlier)).toEqual(seconds(earlier));
    expect(await readAll(trail, "acme", { beforeMs: 1 })).toEqual([]);
    expect(await readAll(trail, "acme", { beforeMs: (newest ?? 0) + 1 })).toHaveLength(30);
  });

  test("events are stored in the order of the store's clock", async () => {
    const trail = await trailOf(["acme", "acme", "acme"]);
    const { events } = await trail.read("acme", {}, never);
    const times = events.map(({ storedMs }) => storedMs);
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    expect(Math.abs((times[0] ?? 0) - Date.now())).toBeLessThan(60_000);
  });

  test("an event that is appended again is stored once", async () => {
    const trail = await open();
    const event = eventAt("acme", 1);
    await trail.append(event, { usesReserve: false });
    await trail.append(event, { usesReserve: true });
    expect(await readAll(trail, "acme")).toEqual([1]);
  });
}
