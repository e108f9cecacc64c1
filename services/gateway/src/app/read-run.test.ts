import { create } from "@bufbuild/protobuf";
import { RunEventSchema } from "@reeve/contracts/run";
import { memoryRunLog } from "@reeve/jetstream/log/memory";
import { emptyTail } from "@reeve/jetstream/log/port";
import { expect, test } from "vitest";
import { readRun } from "./read-run.ts";

const never = new AbortController().signal;

test("other requests are answered while a long run is read", async () => {
  const log = memoryRunLog();
  const key = { tenant: "acme", run: "run_long0000" };
  const events = Array.from({ length: 20_000 }, (_, index) =>
    create(RunEventSchema, {
      runId: key.run,
      sequence: index + 1,
      event: index === 0 ? { case: "runCreated", value: {} } : { case: "text", value: {} },
    }),
  );
  await log.append(key, emptyTail, events, never);
  let answers = 0;
  let isRead = false;
  const answer = () => {
    answers += 1;
    if (!isRead) setImmediate(answer);
  };
  setImmediate(answer);
  expect((await readRun(log, key, never)).lastSequence).toBe(20_000);
  isRead = true;
  expect(answers).toBeGreaterThan(20);
});
