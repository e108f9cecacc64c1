import { mkdtempSync, statSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { lockFile } from "./lock-file.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
});

afterEach(() => {
  vi.useRealTimers();
});

test("a lock is renewed while it is held, and not afterwards", async () => {
  const path = join(mkdtempSync(join(tmpdir(), "reeve-lock-")), "lock");
  const held = await lockFile(path, new AbortController().signal);
  utimesSync(path, 1, 1);
  vi.advanceTimersByTime(5_000);
  expect(statSync(path).mtimeMs).toBeGreaterThan(1_000);
  await held[Symbol.asyncDispose]();
  expect(vi.getTimerCount()).toBe(0);
});
