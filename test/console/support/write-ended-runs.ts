import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { openRunLog } from "@reeve/jetstream/log/open";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { Nats } from "@reeve/platform/nats/connect-nats";

const never = new AbortController().signal;
const dayMs = 86_400_000;

/** Writes the logs of runs that ended a day ago, one second apart: `Scroll 1` is the oldest. */
export async function writeEndedRuns(nats: Nats, count: number, startedBy: string): Promise<void> {
  const log = await openRunLog(nats);
  const firstMs = Date.now() - dayMs;
  for (let number = 1; number <= count; number++) {
    const key = { tenant: "acme", run: `run_s${String(number).padStart(25, "0")}` };
    const base = { runId: key.run, time: timestampFromMs(firstMs + number * 1_000) };
    const created = { tenant: "acme", agentId: "helper", input: `Scroll ${number}`, startedBy };
    const events = [
      { ...base, sequence: 1, event: { case: "runCreated" as const, value: created } },
      {
        ...base,
        sequence: 2,
        event: { case: "status" as const, value: { status: RunStatus.COMPLETED } },
      },
    ];
    const written = events.map((event) => create(RunEventSchema, event));
    await log.append(key, emptyTail, written, never);
  }
}
