import { ErrorReason } from "@reeve/contracts/error";
import type { Tail } from "@reeve/jetstream/log/port";
import { historyLost } from "@reeve/jetstream/log/history-lost";
import { Failure } from "@reeve/platform/failure";

/** A sequence that a client has reached, and the beginning of the digest of the batch that contains it. */
const sequenceBytes = 4;
const digestBytes = 16;
const tokenPattern = /^[A-Za-z0-9_-]{27}$/;

/** Returns the token of a client that has all events up to `sequence`. Empty at the start of a log. */
export function resumeTokenAt(sequence: number, batchTails: readonly Tail[]): string {
  const batch = batchWith(sequence, batchTails);
  if (sequence === 0 || batch === undefined) return "";
  const bytes = Buffer.alloc(sequenceBytes + digestBytes);
  bytes.writeUInt32BE(sequence);
  bytes.write(batch.digest, sequenceBytes, digestBytes, "hex");
  return bytes.toString("base64url");
}

/** Returns the sequence that a token names; 0 for one that `resumeTokenAt` did not make. */
export function sequenceOfToken(token: string): number {
  return tokenPattern.test(token) ? Buffer.from(token, "base64url").readUInt32BE() : 0;
}

/** What is known of the history that is stored. */
interface KnownHistory {
  /** The tails of some batches, oldest first. Those that contain the sequences of the client and of its token are among them. */
  readonly batchTails: readonly Tail[];
  readonly lastSequence: number;
}

/**
 * Checks that a client that has the events up to `afterSequence` and was sent `token` has seen the history that is stored. A
 * batch is stored completely or not at all and its digest covers those before it, so one comparison checks every event that
 * the client has. Throws a Failure with the reason HISTORY_LOST.
 */
export function assertSameHistory(
  runId: string,
  { afterSequence, resumeToken }: { readonly afterSequence: number; readonly resumeToken: string },
  { batchTails, lastSequence }: KnownHistory,
): void {
  if (resumeToken === "") return;
  const sequence = sequenceOfToken(resumeToken);
  if (sequence === 0) throw invalid("is not a token that WatchRun has sent; omit it");
  if (afterSequence > sequence) {
    throw invalid(
      `belongs to sequence ${sequence}, which is before after_sequence ${afterSequence}; send the token of the last message`,
    );
  }
  if (resumeTokenAt(sequence, batchTails) === resumeToken) return;
  throw historyLost(
    `run ${runId}`,
    { sequence },
    { run_id: runId, last_sequence: String(lastSequence), through_sequence: String(sequence) },
  );
}

function batchWith(sequence: number, batchTails: readonly Tail[]): Tail | undefined {
  return batchTails.find((tail) => tail.sequence >= sequence);
}

function invalid(problem: string): Failure {
  const violation = { field: "resume_token", description: problem, reason: "RESUME_TOKEN" };
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, `resume_token ${problem}`, {
    violations: [violation],
  });
}
