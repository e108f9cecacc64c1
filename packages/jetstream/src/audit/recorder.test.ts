import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { AuditEventSchema } from "@reeve/contracts/audit";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { ManualClock } from "@reeve/platform/test/support/manual-clock";
import { expect, onTestFinished, test } from "vitest";
import { storeFailure } from "../streams/errors.ts";
import { MemoryAuditTrail } from "./memory.ts";
import type { AuditMode } from "./recorder.ts";
import { AuditRecorder } from "./recorder.ts";

const log = createLogger("test", "silent");

function bench(mode: AuditMode) {
  const trail = new MemoryAuditTrail();
  const clock = new ManualClock(1_000_000);
  const recorder = new AuditRecorder({ mode, clock, log });
  const end = new AbortController();
  onTestFinished(() => end.abort());
  const keep = () =>
    void recorder.keep(() => Promise.resolve(trail), end.signal).catch(() => undefined);
  const event = (eventId: string, tenant = "acme") =>
    create(AuditEventSchema, { eventId, tenant, time: timestampFromMs(clock.now()) });
  const ids = () => trail.events.map(({ eventId }) => eventId);
  return { trail, clock, recorder, keep, event, ids };
}

test("a change is stored before its record resolves", async () => {
  const { recorder, keep, clock, event, ids } = bench("required");
  keep();
  await clock.advance(0);
  await recorder.record(event("one"));
  expect(ids()).toEqual(["one"]);
});

test("while a required trail cannot be written, changes are refused", async () => {
  const { recorder, keep, clock, trail, event, ids } = bench("required");
  expect(() => recorder.assertAvailable()).toThrow("REEVE_AUDIT=required");
  keep();
  await clock.advance(0);
  expect(() => recorder.assertAvailable()).not.toThrow();
  trail.failure = storeUnavailable();
  recorder.note(event("read"));
  await clock.advance(0);
  expect(() => recorder.assertAvailable()).toThrow("REEVE_AUDIT=required");
  trail.failure = undefined;
  await clock.advance(500);
  expect(() => recorder.assertAvailable()).not.toThrow();
  expect(ids()).toEqual(["read"]);
});

test("while a trail that is not required cannot be written, changes do not wait, and are stored later", async () => {
  const { recorder, keep, clock, trail, event, ids } = bench("best-effort");
  keep();
  await clock.advance(0);
  trail.failure = storeUnavailable();
  recorder.note(event("one"));
  await clock.advance(0);
  expect(() => recorder.assertAvailable()).not.toThrow();
  await recorder.record(event("two"));
  expect(ids()).toEqual([]);
  trail.failure = undefined;
  await clock.advance(500);
  expect(ids()).toEqual(["one", "two"]);
});

test("what could not be stored for two minutes is lost, and the trail says how much", async () => {
  const { recorder, keep, clock, trail, event } = bench("best-effort");
  keep();
  await clock.advance(0);
  trail.failure = storeUnavailable();
  for (const id of ["one", "two"]) recorder.note(event(id));
  recorder.note(event("other", "globex"));
  for (let second = 0; second < 120; second++) await clock.advance(1_000);
  recorder.note(event("late"));
  trail.failure = undefined;
  await clock.advance(1_000);
  const stored = trail.events.map(({ tenant, action, eventId, lost }) =>
    action === "audit.gap" ? `${tenant} lost ${lost}` : eventId,
  );
  expect(stored.toSorted()).toEqual(["acme lost 2", "globex lost 1", "late"]);
});

test("in a full store, reads are lost, and changes are still accepted and recorded in its reserve", async () => {
  const { recorder, keep, clock, trail, event } = bench("required");
  keep();
  await clock.advance(0);
  trail.failsWithoutReserve = storeFailure({ code: 503, err_code: 10023 });
  recorder.note(event("read"));
  await clock.advance(0);
  expect(() => recorder.assertAvailable()).not.toThrow();
  await recorder.record({ ...event("change"), code: "OK" });
  const stored = trail.events.map(({ action, eventId, lost }) =>
    action === "audit.gap" ? `lost ${lost}` : eventId,
  );
  expect(stored.toSorted()).toEqual(["change", "lost 1"]);
});

test("what is lost in a full store is reported once a minute, so that it does not use up the reserve", async () => {
  const { recorder, keep, clock, trail, event } = bench("required");
  keep();
  await clock.advance(0);
  trail.failsWithoutReserve = storeFailure({ code: 503, err_code: 10023 });
  const gaps = () => trail.events.map(({ lost }) => lost);
  for (let read = 0; read < 20; read++) {
    recorder.note(event(`read ${read}`));
    await clock.advance(0);
  }
  expect(gaps()).toEqual([1]);
  await clock.advance(60_000);
  expect(gaps()).toEqual([1, 19]);
  await clock.advance(60_000);
  expect(gaps()).toEqual([1, 19]);
});

test("a change does not wait for a trail that is still not open after five seconds", async () => {
  const { recorder, clock, event, ids } = bench("best-effort");
  await clock.advance(5_000);
  await recorder.record(event("one"));
  expect(ids()).toEqual([]);
});
