import { setTimeout as sleep } from "node:timers/promises";
import { ApprovalSchema, ApprovalService } from "@reeve/contracts/approval";
import { openDispatchQueue } from "@reeve/log/nats-queue";
import { openRunFeed } from "@reeve/log/nats-run-feed";
import { openRunLog } from "@reeve/log/nats-run-log";
import { authenticateInternally } from "@reeve/platform/internal-principal";
import type { Logger } from "@reeve/platform/logger";
import type { Nats } from "@reeve/platform/nats";
import type { RunningServer } from "@reeve/platform/server";
import { serve } from "@reeve/platform/server";
import { openTable } from "@reeve/store/nats-table";
import type { ApprovalPorts } from "./app/approval-ports.ts";
import { expireApprovals } from "./app/expire-approvals.ts";
import type { ApprovalsConfig } from "./config.ts";
import { keepInbox } from "./projections/inbox.ts";
import { approvalService } from "./rpc/approval-service.ts";

/** How long a worker may be silent; approvals only makes sure that the queue is there. */
const ackWaitMs = 1_000;
const retryMs = 1_000;

/** Keeps the inbox of approvals, takes decisions and lets approvals expire, until it is disposed. */
export async function startApprovals(
  config: ApprovalsConfig,
  { nats, log }: { readonly nats: Nats; readonly log: Logger },
  signal: AbortSignal,
): Promise<RunningServer> {
  const end = new AbortController();
  const ended = AbortSignal.any([signal, end.signal]);
  const ports: ApprovalPorts = {
    log: await openRunLog(nats),
    dispatch: await openDispatchQueue(nats, { ackWaitMs }),
    inbox: await openTable(nats, ApprovalSchema),
  };
  const clock = {
    now: () => Date.now(),
    sleep: (delayMs: number, until: AbortSignal) => sleep(delayMs, undefined, { signal: until }),
  };
  const working = Promise.all([
    keepGoing(log, ended, async () => keepInbox(await openRunFeed(nats), ports.inbox, log, ended)),
    keepGoing(log, ended, () => expireApprovals(ports, clock, log, ended)),
  ]);
  const server = await serve(
    (router) => router.service(ApprovalService, approvalService(ports)),
    {
      ...config.REEVE_APPROVALS_LISTEN,
      log,
      services: [ApprovalService],
      interceptors: [authenticateInternally(config.REEVE_INTERNAL_TOKEN)],
      ready: () => !nats.connection.isClosed(),
    },
    signal,
  );
  log.info({ url: server.url }, "approvals listens");
  return {
    ...server,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      end.abort(new DOMException("approvals goes away", "AbortError"));
      await working;
    },
  };
}

/** Does `work` again whenever it breaks off, until `signal` aborts. */
async function keepGoing(
  log: Logger,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await work();
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ err: error }, "background work broke off; going on");
      await sleep(retryMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
