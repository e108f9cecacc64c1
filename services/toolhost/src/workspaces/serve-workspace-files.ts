import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { channelOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import { WorkspaceFilesRequestSchema, WorkspaceFilesResponseSchema } from "@reeve/contracts/tool";
import { anyHost } from "@reeve/contracts/rules/workspace-id";
import { KeyedSemaphore } from "@reeve/platform/async/coordination/keyed-semaphore";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { settledWithin } from "@reeve/platform/async/settled-within";
import { TaskSet } from "@reeve/platform/async/task-set";
import { Failure } from "@reeve/platform/failure";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { replyToRequests } from "@reeve/platform/nats/reply-to-requests";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { FilesPorts } from "./answer-files.ts";
import { answerFiles } from "./answer-files.ts";

/** How many operations run at a time, how many of one tenant, and how many more of that tenant may wait. */
const concurrency = { permits: 16, permitsPerKey: 4, maxWaitingPerKey: 60 };
/** Time limit of one operation. The workspace may have to be restored from its snapshot first. */
const timeoutMs = 110_000;
/** How long operations in progress may continue when the host ends. */
const graceMs = 10_000;

/**
 * Serves file operations of clients, on workspaces that this host has and on its share of the requests for workspaces that no
 * host has. Once disposed, it accepts no more operations, and those in progress end within ten seconds.
 */
export function serveWorkspaceFiles(
  { connection }: Pick<Nats, "connection">,
  { host, log }: { readonly host: string; readonly log: Pick<Logger, "warn"> },
  ports: Omit<FilesPorts, "permits" | "log">,
): AsyncDisposable {
  const { subject } = channelOf(WorkspaceFilesRequestSchema);
  const permits = new KeyedSemaphore(concurrency);
  const end = new AbortController();
  const inProgress = new TaskSet();
  const answer = async (data: Uint8Array) => {
    const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), end.signal]);
    const request = fromBinary(WorkspaceFilesRequestSchema, data);
    const response = await answerFiles(request, { ...ports, permits, log }, signal);
    return toBinary(WorkspaceFilesResponseSchema, response);
  };
  const reply = (data: Uint8Array) => inProgress.add(answer(data));
  const stack = new AsyncDisposableStack();
  stack.defer(async () => {
    if (await settledWithin(inProgress.settled(), graceMs, neverAborts)) return;
    end.abort(ending());
    await inProgress.settled();
  });
  stack.use(replyToRequests(connection, { subject: subject({ host }), log }, reply));
  const group = { subject: subject({ host: anyHost }), group: "toolhosts", log };
  stack.use(replyToRequests(connection, group, reply));
  return stack;
}

function ending(): Failure {
  const problem = "the toolhost is shutting down; try again, so that another toolhost answers";
  return new Failure("unavailable", ErrorReason.DRAINING, problem);
}
