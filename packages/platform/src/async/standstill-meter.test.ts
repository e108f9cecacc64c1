import { expect, test } from "vitest";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { StandstillMeter } from "./standstill-meter.ts";

test("a standstill meter counts long gaps, also those that its own timer has not seen", async () => {
  const clock = new ManualClock();
  using meter = new StandstillMeter(clock);
  await clock.advance(400);
  expect(meter.totalMs).toBe(0);
  await clock.advance(1_900);
  expect(meter.totalMs).toBe(0);
  await clock.advance(190_000);
  expect(meter.totalMs).toBe(189_500);
  expect(meter.totalMs).toBe(189_500);
  await clock.advance(5_000);
  expect(meter.totalMs).toBe(194_000);
});
