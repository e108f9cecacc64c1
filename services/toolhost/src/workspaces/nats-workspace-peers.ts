import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { channelOf } from "@reeve/contracts/channel";
import { WorkspaceReleaseSchema, WorkspaceReleasedSchema } from "@reeve/contracts/tool";
import { replyToRequests } from "@reeve/platform/nats/reply-to-requests";
import { connectionStateOf } from "@reeve/platform/nats/connection-state";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { requestClientOf } from "@reeve/platform/nats/request-client";
import { singleAttempt, pollUntilReply } from "@reeve/platform/nats/poll-until-reply";
import type { WorkspaceKeeper } from "./workspace-keeper.ts";
import type { WorkspacePeers } from "./workspace-holders.ts";

/** How long a host that was silent is asked just once whether calls are running there: many workspaces may name it. */
const silentMs = 10_000;

const releases = channelOf(WorkspaceReleaseSchema);

/**
 * The other toolhosts, asked over the bus. One that does not answer for seconds of one connection is silent; a Failure of
 * kind `unavailable` is thrown when that connection was lost meanwhile.
 */
export function natsWorkspacePeers({ connection }: Pick<Nats, "connection">): WorkspacePeers {
  const requests = requestClientOf(connection);
  const state = connectionStateOf(connection);
  const silentUntil = new Map<string, number>();
  state.onChange(() => silentUntil.clear());
  return {
    async release(host, workspace, signal) {
      const data = toBinary(WorkspaceReleaseSchema, create(WorkspaceReleaseSchema, workspace));
      const ask = () => requests.send(releases.subject({ host }), { data });
      for (const [each, until] of silentUntil) {
        if (until < performance.now()) silentUntil.delete(each);
      }
      const patience = workspace.onlyAsk && silentUntil.has(host) ? singleAttempt : undefined;
      const answer = await pollUntilReply(ask, state, signal, patience);
      if (answer === undefined) {
        silentUntil.set(host, performance.now() + silentMs);
        return "silent";
      }
      silentUntil.delete(host);
      const { isReleased } = fromBinary(WorkspaceReleasedSchema, answer.data);
      return isReleased ? "released" : "busy";
    },
  };
}

/** Answers the other hosts when they ask for workspaces, until it is disposed. */
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
