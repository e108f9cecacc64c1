import { mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { lockFile } from "./lock-file.ts";

const never = () => expect.unreachable();

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
});

afterEach(() => {
  vi.useRealTimers();
});

test("a lock is renewed while it is held, and not afterwards", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "reeve-lock-")), "lock");
  const held = await lockFile(path, never, new AbortController().signal);
  utimesSync(path, 1, 1);
  vi.advanceTimersByTime(5_000);
  expect(statSync(path).mtimeMs).toBeGreaterThan(1_000);
  await held[Symbol.asyncDispose]();
  expect(vi.getTimerCount()).toBe(0);
});

test.each([-3_600, 3_600])(
  "a lock whose time is %d s from now is that of a dead process",
  async (seconds) => {
    const path = join(mkdtempSync(join(tmpdir(), "reeve-lock-")), "lock");
    writeFileSync(path, "dead");
    const time = Date.now() / 1_000 + seconds;
    utimesSync(path, time, time);
    await using held = await lockFile(path, never, new AbortController().signal);
    expect(held).toBeDefined();
  },
);

test("says once that another process holds the lock", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "reeve-lock-")), "lock");
  const held = await lockFile(path, never, new AbortController().signal);
  const { promise: waits, resolve } = Promise.withResolvers<void>();
  const onWait = vi.fn(resolve);
  const next = lockFile(path, onWait, new AbortController().signal);
  await waits;
  await held[Symbol.asyncDispose]();
  await using _ = await next;
  expect(onWait).toHaveBeenCalledOnce();
});

test("a lock that cannot be renewed does not end the process", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "reeve-lock-")), "lock");
  await using _ = await lockFile(path, never, new AbortController().signal);
  rmSync(path);
  mkdirSync(path);
  expect(() => vi.advanceTimersByTime(5_000)).not.toThrow();
  rmSync(path, { recursive: true });
});
