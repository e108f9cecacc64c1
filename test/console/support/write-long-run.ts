import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { openRunLog } from "@reeve/jetstream/log/open";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { Nats } from "@reeve/platform/nats/connect-nats";

const never = new AbortController().signal;

/** Writes the log of a run that ended an hour ago, after calls with the ids `call-1` to `call-COUNT`. Returns the id of the run. */
export async function writeLongRun(nats: Nats, count: number, startedBy: string): Promise<string> {
  const runId = "run_l0000000000000000000000001";
  const log = await openRunLog(nats);
  const created = { tenant: "acme", agentId: "helper", input: "Call often", startedBy };
  const calls = Array.from({ length: count }, (_, index) => `call-${index + 1}`);
  const events: readonly MessageInitShape<typeof RunEventSchema>["event"][] = [
    { case: "runCreated", value: created },
    ...calls.flatMap((callId) => [
      { case: "toolCall" as const, value: { callId, name: "read_file" } },
      { case: "toolResult" as const, value: { result: { callId }, success: true } },
    ]),
    { case: "status", value: { status: RunStatus.COMPLETED } },
  ];
  const time = timestampFromMs(Date.now() - 3_600_000);
  const written = events.map((event, index) =>
    create(RunEventSchema, { runId, time, sequence: index + 1, ...(event && { event }) }),
  );
  await log.append({ tenant: "acme", run: runId }, emptyTail, written, never);
  return runId;
}
