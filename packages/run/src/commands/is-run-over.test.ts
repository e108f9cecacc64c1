import { create } from "@bufbuild/protobuf";
import { RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { emptyTail } from "@reeve/jetstream/log/port";
import { memoryRunLog, memoryThreadLog } from "@reeve/jetstream/log/memory";
import { expect, test } from "vitest";
import { logLiveness } from "../liveness/liveness.ts";
import { isRunOver } from "./is-run-over.ts";

const never = new AbortController().signal;
const key = { tenant: "acme", run: "run_abcdefgh" };

function livenessIn(runs: ReturnType<typeof memoryRunLog>) {
  return logLiveness({ runs, threads: memoryThreadLog() });
}

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
  expect(await isRunOver(livenessIn(log), key, never)).toBe(isOver);
});

test("a run without a log is over", async () => {
  expect(await isRunOver(livenessIn(memoryRunLog()), key, never)).toBe(true);
});
