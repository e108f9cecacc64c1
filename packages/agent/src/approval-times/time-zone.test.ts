import { expect, test } from "vitest";
import { timeZoneNamed } from "./time-zone.ts";

const at = (text: string) => Date.parse(`${text}Z`);

test.each([
  ["Europe/Berlin", "2026-01-15T09:00", "2026-01-15T08:00"],
  ["Europe/Berlin", "2026-07-15T09:00", "2026-07-15T07:00"],
  // A clock change skips 02:00 to 03:00, and repeats it in autumn.
  ["Europe/Berlin", "2026-03-29T02:30", "2026-03-29T01:30"],
  ["Europe/Berlin", "2026-03-29T03:00", "2026-03-29T01:00"],
  ["Europe/Berlin", "2026-03-29T01:59", "2026-03-29T00:59"],
  ["Europe/Berlin", "2026-10-25T02:30", "2026-10-25T00:30"],
  ["Europe/Berlin", "2026-10-25T03:00", "2026-10-25T02:00"],
  ["America/New_York", "2026-03-08T03:00", "2026-03-08T07:00"],
  ["America/Santiago", "2026-09-06T00:00", "2026-09-06T04:00"],
  ["Asia/Kathmandu", "2026-01-01T00:00", "2025-12-31T18:15"],
  ["UTC", "2026-01-01T00:00", "2026-01-01T00:00"],
])("in %s, the local time %s is the instant %s", (zone, local, instant) => {
  expect(timeZoneNamed(zone)?.instantMs(at(local))).toBe(at(instant));
});

test("local times of instants are exact to the millisecond, on both sides of a clock change", () => {
  const zone = timeZoneNamed("Europe/Berlin");
  expect(zone?.localMs(at("2026-03-29T00:59:59.999"))).toBe(at("2026-03-29T01:59:59.999"));
  expect(zone?.localMs(at("2026-03-29T01:00"))).toBe(at("2026-03-29T03:00"));
});

test.each(["Europe/Berln", "", "+02:00", "Mars"])("there is no zone %j", (name) => {
  expect(timeZoneNamed(name)).toBeUndefined();
});
