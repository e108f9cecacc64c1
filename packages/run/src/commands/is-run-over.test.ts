import { create } from "@bufbuild/protobuf";
import { RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { emptyTail } from "@reeve/jetstream/log/port";
import { memoryRunLog } from "@reeve/jetstream/log/memory";
import { expect, test } from "vitest";
import { isRunOver } from "./is-run-over.ts";

const never = new AbortController().signal;
const key = { tenant: "acme", run: "run_abcdefgh" };

test.each([
  [RunStatus.RUNNING, false],
  [RunStatus.CANCELLED, true],
])("a run whose last batch has status %i is over: %s", async (status, isOver) => {
  const log = memoryRunLog();
  const event = create(RunEventSchema, {
    sequence: 1,
    event: { case: "status", value: { status } },
  });
  await log.append(key, emptyTail, [event], never);
  expect(await isRunOver(log, key, never)).toBe(isOver);
});

test("a run without a log is over", async () => {
  expect(await isRunOver(memoryRunLog(), key, never)).toBe(true);
});
