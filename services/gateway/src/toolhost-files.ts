import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { channelOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import { WorkspaceFilesRequestSchema, WorkspaceFilesResponseSchema } from "@reeve/contracts/tool";
import { sendRequest } from "@reeve/platform/nats/send-request";
import { Failure } from "@reeve/platform/failure";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import type { FilesPorts } from "./app/workspace-files.ts";

/** A large workspace may have to come from its snapshot first. */
const timeoutMs = 120_000;

/** Asks toolhosts over the bus. */
export function toolhostFiles({ connection }: Nats): FilesPorts["requestFiles"] {
  const { subject } = channelOf(WorkspaceFilesRequestSchema);
  return async (host, request, signal) => {
    const data = toBinary(WorkspaceFilesRequestSchema, request);
    const answer = await sendRequest(connection, subject({ host }), { data, timeoutMs }, signal);
    if (answer.kind === "nobody") return undefined;
    if (answer.kind === "answered") return fromBinary(WorkspaceFilesResponseSchema, answer.data);
    const problem = `the toolhost that has the files of run ${request.runId} does not answer; try again in a few seconds`;
    throw new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
  };
}
