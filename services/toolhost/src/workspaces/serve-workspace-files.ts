import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { channelOf } from "@reeve/contracts/channel";
import { anyHost } from "@reeve/contracts/workspace-id";
import { ErrorReason } from "@reeve/contracts/error";
import { WorkspaceFilesRequestSchema, WorkspaceFilesResponseSchema } from "@reeve/contracts/tool";
import { replyToRequests } from "@reeve/platform/nats/reply-to-requests";
import { Failure } from "@reeve/platform/failure";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import type { FilesPorts } from "./answer-files.ts";
import { answerFiles } from "./answer-files.ts";
import { Shares } from "@reeve/platform/async/shares";

/** How many operations are done at a time, how many of one tenant, and how many more of it wait. */
const atOnce = { all: 16, each: 4, waiting: 60 };
/** How long one may take with everything: a workspace may have to come from its snapshot first. */
const maxMs = 110_000;
/** How long those under way may go on when the host ends. */
const graceMs = 10_000;

/**
 * Answers what clients ask about files: of workspaces that this host has, and in turn of those that none has. When it is
 * disposed it takes no more, and what is under way comes to its end within ten seconds.
 */
export function serveWorkspaceFiles(
  { connection }: Pick<Nats, "connection">,
  { host, log }: { readonly host: string; readonly log: Pick<Logger, "warn"> },
  ports: Omit<FilesPorts, "shares" | "log">,
): AsyncDisposable {
  const { subject } = channelOf(WorkspaceFilesRequestSchema);
  const shares = new Shares(atOnce);
  const end = new AbortController();
  const underWay = new Set<Promise<Uint8Array>>();
  const perform = async (request: Uint8Array) => {
    const signal = AbortSignal.any([AbortSignal.timeout(maxMs), end.signal]);
    const asked = fromBinary(WorkspaceFilesRequestSchema, request);
    return toBinary(
      WorkspaceFilesResponseSchema,
      await answerFiles(asked, { ...ports, shares, log }, signal),
    );
  };
  const answer = async (request: Uint8Array) => {
    const performing = perform(request);
    underWay.add(performing);
    try {
      return await performing;
    } finally {
      underWay.delete(performing);
    }
  };
  const stack = new AsyncDisposableStack();
  stack.defer(async () => {
    const late = setTimeout(() => end.abort(ending()), graceMs);
    await Promise.allSettled(underWay);
    clearTimeout(late);
  });
  stack.use(replyToRequests(connection, { subject: subject({ host }), log }, answer));
  const group = { subject: subject({ host: anyHost }), group: "toolhosts", log };
  stack.use(replyToRequests(connection, group, answer));
  return stack;
}

function ending(): Failure {
  const problem = "the toolhost ends; ask again, and another one answers";
  return new Failure("unavailable", ErrorReason.DRAINING, problem);
}
