import { setTimeout } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ApprovalState } from "@reeve/contracts/approval";
import type { RunEvent } from "@reeve/contracts/run";
import { RunEventSchema, RunStatus } from "@reeve/contracts/run";
import { openRunLog } from "@reeve/jetstream/log/open";
import { emptyTail } from "@reeve/jetstream/log/port";
import type { RunLog } from "@reeve/jetstream/log/run-log";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { createLogger } from "@reeve/platform/telemetry/logger";
import type { ExternalFact } from "@reeve/run/commands/append-external";
import type { Cluster } from "../cluster.ts";
import { rateOf } from "../measure.ts";

const tenant = "bench";
const agents = 20;
const log = createLogger("bench", "silent");
const input = "Please do this and that for me. ".repeat(4);

/** Some of the runs that wait for an approval, by their numbers. */
export interface ParkedRange {
  readonly from: number;
  readonly count: number;
}

/** Writes the logs of runs that wait for an approval, until the gateway has all of them in its index, and approvals in its inbox. */
export async function parkRuns(
  cluster: Cluster,
  { from, count }: ParkedRange,
  signal: AbortSignal,
): Promise<void> {
  await using nats = await connectNats(cluster.natsUrl, { name: "bench", log }, signal);
  const runLog = await openRunLog(nats);
  let next = from;
  await rateOf(count, 200, () => parkRun(runLog, next++, signal));
  const last = from + count - 1;
  for (;;) {
    const { runs } = await cluster.reeve.runs.listRuns(
      { pageSize: 1, statuses: [RunStatus.WAITING] },
      { signal },
    );
    if (runs[0]?.runId === parkedRunId(last)) break;
    await setTimeout(1_000, undefined, { signal });
  }
  const isInInbox = () =>
    cluster.reeve.approvals.getApproval({ approvalId: approvalIdOf(last) }, { signal }).then(
      () => true,
      () => false,
    );
  while (!(await isInInbox())) await setTimeout(1_000, undefined, { signal });
}

/** Writes the log of a run that waits for an approval. */
export async function parkRun(runLog: RunLog, at: number, signal: AbortSignal): Promise<void> {
  const key = { tenant, run: parkedRunId(at) };
  await runLog.append(key, emptyTail, eventsOf(key.run, at), signal);
}

/** Returns the id of the approval for which a run waits. */
export function approvalIdOf(at: number): string {
  return `${parkedRunId(at)}-2-0`;
}

/** Returns the agent of a run: each has as many. */
export function agentOf(at: number): string {
  return `agent-${at % agents}`;
}

/** Returns the id of a run of a kind, in the order of its number. */
export function runIdOf(kind: string, at: number): string {
  return `run_${kind}${String(at).padStart(25, "0")}`;
}

function parkedRunId(at: number): string {
  return runIdOf("w", at);
}

function eventsOf(runId: string, at: number): readonly RunEvent[] {
  const [approvalId, agentId] = [approvalIdOf(at), agentOf(at)];
  const time = timestampFromMs(Date.now());
  const approval = {
    approvalId,
    runId,
    agentId,
    state: ApprovalState.PENDING,
    requestedAt: time,
    requestedBy: `person-${at % 7}`,
    call: {
      callId: `${runId}-2`,
      name: `mcp__srv__tool_${at % 5}`,
      arguments: { path: `reports/${at}.csv`, text: input },
    },
    // Those that somebody else decides are not for the caller, and are searched.
    alternatives: at % 10 === 0 ? [{ name: "finance", groups: ["finance"], approvals: 1 }] : [],
  };
  const facts: readonly ExternalFact[] = [
    { case: "runCreated", value: { tenant, agentId, input } },
    { case: "status", value: { status: RunStatus.WAITING } },
    { case: "approval", value: { approval } },
    { case: "runParked", value: { waitingFor: [approvalId] } },
  ];
  return facts.map((event, index) =>
    create(RunEventSchema, { runId, sequence: index + 1, time, event }),
  );
}
