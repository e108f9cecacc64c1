import { expect, test } from "vitest";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { IdleTimeout } from "./idle-timeout.ts";
import { neverAborts } from "./never-aborts.ts";

test("aborts its signal when nothing was heard for the time", async () => {
  const clock = new ManualClock();
  using idle = new IdleTimeout({ timeoutMs: 100, clock }, neverAborts);
  await clock.advance(99);
  expect(idle.signal.aborted).toBe(false);
  await clock.advance(1);
  expect(idle.signal.reason).toMatchObject({
    name: "TimeoutError",
    message: "nothing was heard for 100 ms",
  });
  expect(idle.isExpired).toBe(true);
});

test("starts the time again whenever something is heard, with one timer", async () => {
  const clock = new ManualClock();
  using idle = new IdleTimeout({ timeoutMs: 100, clock }, neverAborts);
  for (let heard = 0; heard < 5; heard++) {
    await clock.advance(60);
    idle.restart();
    expect(clock.sleepers).toBe(1);
  }
  await clock.advance(99);
  expect(idle.isExpired).toBe(false);
  await clock.advance(1);
  expect(idle.isExpired).toBe(true);
});

test("takes another time from now on, a shorter one too", async () => {
  const clock = new ManualClock();
  using idle = new IdleTimeout({ timeoutMs: 100, clock }, neverAborts);
  idle.restart(1_000);
  await clock.advance(500);
  idle.restart(10);
  await clock.advance(9);
  idle.restart();
  await clock.advance(9);
  expect(idle.isExpired).toBe(false);
  await clock.advance(1);
  expect(idle.isExpired).toBe(true);
});

test("does not expire while it is paused", async () => {
  const clock = new ManualClock();
  using idle = new IdleTimeout({ timeoutMs: 100, clock }, neverAborts);
  idle.pause();
  await clock.advance(1_000);
  expect(idle.isExpired).toBe(false);
  idle.restart();
  await clock.advance(100);
  expect(idle.isExpired).toBe(true);
});

test("does not expire when it is paused at the moment at which the timer fires", async () => {
  const clock = new ManualClock();
  using idle = new IdleTimeout({ timeoutMs: 100, clock }, neverAborts);
  const advanced = clock.advance(100);
  idle.pause();
  await advanced;
  expect(idle.isExpired).toBe(false);
});

test("does not expire while a promise suspends it, whatever is heard meanwhile", async () => {
  const clock = new ManualClock();
  using idle = new IdleTimeout({ timeoutMs: 100, clock }, neverAborts);
  const first = Promise.withResolvers<string>();
  const second = Promise.withResolvers<never>();
  const suspended = idle.suspendWhile(first.promise);
  const failed = idle.suspendWhile(second.promise);
  first.resolve("answer");
  expect(await suspended).toBe("answer");
  idle.restart();
  await clock.advance(1_000);
  expect(idle.isExpired).toBe(false);
  second.reject(new Error("declined"));
  await expect(failed).rejects.toThrow("declined");
  await clock.advance(100);
  expect(idle.isExpired).toBe(true);
});

test("aborts with the reason that it is given", async () => {
  const clock = new ManualClock();
  const reason = new Error("the store does not answer");
  using idle = new IdleTimeout({ timeoutMs: 100, reason: () => reason, clock }, neverAborts);
  await clock.advance(100);
  expect(idle.signal.reason).toBe(reason);
});

test("aborts its signal with the outer one, which is no expiry", () => {
  const stop = new AbortController();
  using idle = new IdleTimeout({ timeoutMs: 100, clock: new ManualClock() }, stop.signal);
  stop.abort(new Error("enough"));
  expect(idle.signal.reason).toBe(stop.signal.reason);
  expect(idle.isExpired).toBe(false);
});

test("leaves no timer once it is disposed, and never expires", async () => {
  const clock = new ManualClock();
  const idle = new IdleTimeout({ timeoutMs: 100, clock }, neverAborts);
  idle[Symbol.dispose]();
  idle.restart();
  await clock.advance(1_000);
  expect(clock.sleepers).toBe(0);
  expect(idle.isExpired).toBe(false);
});
