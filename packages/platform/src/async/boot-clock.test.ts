import { expect, test } from "vitest";
import { BootClock, bootClock } from "./boot-clock.ts";

function machine() {
  const times = { steady: 1_000, wall: 5_000_000, uptime: 70_000 };
  const clock = new BootClock({
    steady: () => times.steady,
    wall: () => times.wall,
    uptime: () => times.uptime,
  });
  const run = (ms: number) => {
    times.steady += ms;
    times.wall += ms;
    times.uptime += ms;
  };
  const suspend = (ms: number) => {
    times.wall += ms;
    times.uptime += ms;
  };
  return { times, clock, run, suspend };
}

test("a boot clock counts the time of a suspended machine", () => {
  const { clock, run, suspend } = machine();
  const begin = clock.now();
  run(400);
  expect(clock.now() - begin).toBe(400);
  suspend(60_000);
  run(5);
  expect(clock.now() - begin).toBe(60_405);
});

test("a boot clock does not follow the wall clock", () => {
  const { times, clock, run } = machine();
  const begin = clock.now();
  times.wall += 3_600_000;
  run(100);
  expect(clock.now() - begin).toBe(100);
  times.wall -= 7_200_000;
  run(100);
  expect(clock.now() - begin).toBe(200);
});

test("the boot clock of this machine never jumps back", () => {
  let last = bootClock.now();
  for (let turn = 0; turn < 1_000; turn++) {
    const now = bootClock.now();
    expect(now).toBeGreaterThanOrEqual(last);
    last = now;
  }
});
