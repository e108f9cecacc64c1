import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { channelOf } from "@reeve/contracts/channel";
import { WorkspaceReleaseSchema, WorkspaceReleasedSchema } from "@reeve/contracts/tool";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { connectionStateOf } from "@reeve/platform/nats/connection-state";
import { pollUntilReply, singleAttempt } from "@reeve/platform/nats/poll-until-reply";
import { replyToRequests } from "@reeve/platform/nats/reply-to-requests";
import { sendRequest } from "@reeve/platform/nats/send-request";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { WorkspaceKeeper } from "./workspace-keeper.ts";
import type { WorkspacePeers } from "./workspace-ports.ts";

/** How long a silent host is asked only once whether calls use a workspace: many workspaces may name it. */
const silentMs = 10_000;
/** How long one request waits for its reply. */
const attemptMs = 4_000;

const releases = channelOf(WorkspaceReleaseSchema);

/**
 * Returns the other toolhosts, which are asked over the bus. A host that does not reply for seconds, in which the connection of
 * this host was up all the time, is silent. Throws a Failure of kind `unavailable` when that connection was lost meanwhile.
 */
export function natsWorkspacePeers({ connection }: Pick<Nats, "connection">): WorkspacePeers {
  const state = connectionStateOf(connection);
  const silentUntil = new Map<string, number>();
  state.onChange(() => silentUntil.clear());
  return {
    async release(host, workspace, signal) {
      const data = toBinary(WorkspaceReleaseSchema, create(WorkspaceReleaseSchema, workspace));
      const send = async () => {
        const request = { data, timeoutMs: attemptMs };
        const outcome = await sendRequest(connection, releases.subject({ host }), request, signal);
        return outcome.kind === "reply" ? outcome : undefined;
      };
      for (const [each, until] of silentUntil) {
        if (until < performance.now()) silentUntil.delete(each);
      }
      const timing = workspace.onlyAsk && silentUntil.has(host) ? singleAttempt : undefined;
      const reply = await pollUntilReply(send, state, signal, timing);
      if (reply === undefined) {
        silentUntil.set(host, performance.now() + silentMs);
        return "silent";
      }
      silentUntil.delete(host);
      const { isReleased } = fromBinary(WorkspaceReleasedSchema, reply.data);
      return isReleased ? "released" : "busy";
    },
  };
}

/** Replies to the other hosts when they ask for workspaces, until it is disposed. */
export function answerReleases(
  { connection }: Pick<Nats, "connection">,
  { host, log }: { readonly host: string; readonly log: Pick<Logger, "warn"> },
  keeper: Pick<WorkspaceKeeper, "release">,
): Disposable {
  const subject = releases.subject({ host });
  return replyToRequests(connection, { subject, log }, async (request) => {
    const { tenant, id, onlyAsk } = fromBinary(WorkspaceReleaseSchema, request);
    const isReleased = await keeper.release({ tenant, id }, onlyAsk);
    return toBinary(WorkspaceReleasedSchema, create(WorkspaceReleasedSchema, { isReleased }));
  });
}
