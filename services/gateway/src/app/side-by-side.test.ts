import { expect, test } from "vitest";
import { sideBySide } from "./side-by-side.ts";

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

async function failing(): Promise<void> {
  throw new Error("the store is gone");
}

test("when one job breaks the others are ended, and its error stands", async () => {
  const heard: unknown[] = [];
  const other = async (signal: AbortSignal) => {
    await untilAborted(signal).catch((reason: unknown) => heard.push(reason));
  };
  await expect(sideBySide([other, failing], new AbortController().signal)).rejects.toThrow(
    "the store is gone",
  );
  expect(heard).toHaveLength(1);
});

test("jobs end with the reason for which they are asked to end", async () => {
  const end = new AbortController();
  const running = sideBySide([untilAborted, untilAborted], end.signal);
  end.abort(new Error("enough"));
  await expect(running).rejects.toThrow("enough");
});
