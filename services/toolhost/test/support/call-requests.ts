import { create } from "@bufbuild/protobuf";
import { RunEventSchema } from "@reeve/contracts/run";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import { openRunLog, openThreadLog } from "@reeve/jetstream/log/open";
import { emptyTail } from "@reeve/jetstream/log/port";
import { openToolCallQueue } from "@reeve/jetstream/queue/nats";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { answerLiveness } from "@reeve/run/liveness/answer-liveness";
import { logLiveness } from "@reeve/run/liveness/liveness";
import { keyOf } from "./toolhost.ts";

/** Requests tool calls as runtimes do, and answers whether their runs are open. */
export interface CallRequests {
  /** Publishes a request. Its run has a log, because a toolhost starts no call of a run without one. */
  publish(request: ToolCallRequest, signal: AbortSignal): Promise<void>;
}

export async function openCallRequests(nats: Nats, pool = "default"): Promise<CallRequests> {
  const queue = await openToolCallQueue(nats, { pool, ackWaitMs: 1_000 });
  const runs = await openRunLog(nats);
  const liveness = logLiveness({ runs, threads: await openThreadLog(nats) });
  answerLiveness(nats, liveness, createLogger("test", "silent"), neverAborts);
  const created = create(RunEventSchema, { sequence: 1, event: { case: "runCreated", value: {} } });
  return {
    publish: async (request, signal) => {
      const { tenant, run, call } = keyOf(request);
      // A run that has a log keeps it.
      await runs.append({ tenant, run }, emptyTail, [created], signal);
      await queue.publish(request, { dedupeId: call }, signal);
    },
  };
}
