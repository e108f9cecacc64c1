import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { channelOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import { WorkspaceFilesRequestSchema, WorkspaceFilesResponseSchema } from "@reeve/contracts/tool";
import { sendRequest } from "@reeve/platform/nats/send-request";
import { Failure } from "@reeve/platform/failure";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import type { FilesPorts } from "./app/workspace-files.ts";

/** Long enough for a toolhost to restore a large workspace from its snapshot first. */
const timeoutMs = 120_000;

/** Returns a client for the files of workspaces, which sends requests to toolhosts over NATS. */
export function toolhostFiles({ connection }: Nats): FilesPorts["requestFiles"] {
  const { subject } = channelOf(WorkspaceFilesRequestSchema);
  return async (host, request, signal) => {
    const data = toBinary(WorkspaceFilesRequestSchema, request);
    const outcome = await sendRequest(connection, subject({ host }), { data, timeoutMs }, signal);
    switch (outcome.kind) {
      case "reply":
        return fromBinary(WorkspaceFilesResponseSchema, outcome.data);
      case "no_responders":
        return undefined;
      case "no_reply": {
        const message = `the toolhost with the files of run ${request.runId} does not answer; try again in a few seconds`;
        throw new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
      }
    }
  };
}
