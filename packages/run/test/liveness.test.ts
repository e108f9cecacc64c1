import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { ThreadEventSchema } from "@reeve/contracts/thread";
import { RunLiveness } from "@reeve/contracts/toolhost";
import { memoryRunLog, memoryThreadLog } from "@reeve/jetstream/log/memory";
import { emptyTail } from "@reeve/jetstream/log/port";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { expect, test } from "vitest";
import { answerLiveness } from "../src/liveness/answer-liveness.ts";
import { askedLiveness } from "../src/liveness/asked-liveness.ts";
import { logLiveness } from "../src/liveness/liveness.ts";

const log = createLogger("test", "silent");
const never = new AbortController().signal;

test("a service that may not read the logs learns which runs are open", async () => {
  await using resources = new AsyncDisposableStack();
  const storeDir = mkdtempSync(join(tmpdir(), "reeve-liveness-"));
  resources.defer(() => rmSync(storeDir, { recursive: true, force: true }));
  const { url } = resources.use(await startNatsServer({ storeDir, log }, never));
  const logs = { runs: memoryRunLog(), threads: memoryThreadLog() };
  const statuses = { run_open: RunStatus.RUNNING, run_ended: RunStatus.COMPLETED };
  for (const [run, status] of Object.entries(statuses)) {
    const event = create(RunEventSchema, {
      sequence: 1,
      event: { case: "status", value: { status } },
    });
    await logs.runs.append({ tenant: "acme", run }, emptyTail, [event], never);
  }
  const queued = create(ThreadEventSchema, {
    sequence: 1,
    event: { case: "turnQueued", value: { runId: "run_open" } },
  });
  await logs.threads.append({ tenant: "acme", thread: "t" }, emptyTail, [queued], never);
  const nats = resources.use(await connectNats(url, { name: "gateway", log }, never));
  resources.use(answerLiveness(nats, logLiveness(logs), log, never));
  await nats.connection.flush();

  const asked = askedLiveness(
    resources.use(await connectNats(url, { name: "toolhost", log }, never)),
  );
  expect(await asked.ofRun("acme", "run_open", never)).toBe(RunLiveness.OPEN);
  expect(await asked.ofRun("acme", "run_ended", never)).toBe(RunLiveness.ENDED);
  expect(await asked.ofRun("other", "run_open", never)).toBe(RunLiveness.MISSING);
  expect(await asked.openTurns("acme", "t", never)).toEqual(["run_open"]);
  expect(await asked.openTurns("acme", "other", never)).toEqual([]);
});
