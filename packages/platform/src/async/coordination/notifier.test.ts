import { expect, test } from "vitest";
import { neverAborts } from "../never-aborts.ts";
import { Notifier } from "./notifier.ts";

test("wakes every subscriber, also one that is not waiting yet", async () => {
  const notifier = new Notifier();
  using first = notifier.subscribe();
  using second = notifier.subscribe();
  const waiting = first.waitFor(60_000, neverAborts);
  notifier.notify();
  expect(await waiting).toBe(true);
  expect(await second.waitFor(60_000, neverAborts)).toBe(true);
});

test("does not wake a subscriber that came after the notification", async () => {
  const notifier = new Notifier();
  notifier.notify();
  using late = notifier.subscribe();
  expect(await late.waitFor(0, neverAborts)).toBe(false);
});

test("forgets a subscriber that is disposed", () => {
  const notifier = new Notifier();
  {
    using _ = notifier.subscribe();
    expect(notifier.size).toBe(1);
  }
  expect(notifier.size).toBe(0);
});
