import { expect, test } from "vitest";
import { appendEvents, freshRun, texts } from "../../test/support/facts.ts";
import { memoryRunLog } from "./memory.ts";
import { emptyTail } from "./port.ts";
import { readThrough } from "./read-through.ts";

const never = new AbortController().signal;

test("a log that must have an event is unavailable until the read has it", async () => {
  const log = memoryRunLog();
  const key = freshRun();
  const behind = { kind: "unavailable", message: expect.stringContaining(key.run) as string };
  await expect(readThrough(log, key, 1, never)).rejects.toMatchObject(behind);
  const tail = await appendEvents(log, key, emptyTail, texts(emptyTail, "a", "b"), never);
  expect((await readThrough(log, key, 2, never)).tail).toEqual(tail);
  await expect(readThrough(log, key, 3, never)).rejects.toMatchObject(behind);
});
