import { ErrorReason } from "@reeve/contracts/error";
import type { TablePosition } from "@reeve/jetstream/table/port";
import { Failure } from "@reeve/platform/failure";

const format = /^w:(?<revision>\d{1,15}):(?<instance>.{1,100})$/u;

/** Returns the token with which a stream continues after a position of the inbox. */
export function resumeTokenOf({ instance, revision }: TablePosition): string {
  return Buffer.from(`w:${revision}:${instance}`).toString("base64url");
}

/** Returns the position of a token. Throws a Failure of kind `invalid` for a text that is none. */
export function positionOfToken(token: string): TablePosition {
  const { revision, instance } =
    format.exec(Buffer.from(token, "base64url").toString())?.groups ?? {};
  const position = { revision: Number(revision), instance: instance ?? "" };
  if (instance !== undefined && resumeTokenOf(position) === token) return position;
  const violation = {
    field: "resume_token",
    description: "is no token of a message of the stream",
    reason: "MALFORMED",
  };
  throw new Failure(
    "invalid",
    ErrorReason.INVALID_REQUEST,
    "resume_token is no token of a message of WatchApprovals; leave it out to begin anew",
    { violations: [violation] },
  );
}
