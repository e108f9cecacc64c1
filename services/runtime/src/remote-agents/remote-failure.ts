import { A2AError } from "@a2a-js/sdk/errors";
import type { ModelUsage } from "@reeve/engine/ports/model-provider";
import { ModelFailure } from "@reeve/engine/ports/model-provider";
import { Failure } from "@reeve/platform/failure";

/** Returns why a remote agent gave no answer. */
export function remoteFailure(error: unknown, url: string): ModelFailure {
  const causes = causesOf(error);
  const known = causes.find((each) => each instanceof ModelFailure);
  if (known !== undefined) return known;
  const message = error instanceof Error ? error.message : String(error);
  const says = `the remote agent at ${url}: ${message.slice(0, 1_000)}`;
  const cause = { cause: error };
  // An address that is not permitted.
  const refused = causes.find((each) => each instanceof Failure);
  if (refused !== undefined) return new ModelFailure("refused", refused.message, cause);
  if (error instanceof A2AError) return new ModelFailure("invalid", says, cause);
  // `fetch` throws these for a lost connection, and the SDK for an answer that it cannot read.
  return error instanceof TypeError || error instanceof DOMException
    ? new ModelFailure("unavailable", says, cause)
    : new ModelFailure("malformed", says, { ...cause, retryable: false });
}

/** Returns a failure that says what the task has used. */
export function withUsage(failure: ModelFailure, usage: ModelUsage | undefined): ModelFailure {
  if (usage === undefined) return failure;
  const { reason, message, retryAfterMs, retryable, answerBegan, isUnprocessed, cause } = failure;
  const options = { retryAfterMs, retryable, answerBegan, isUnprocessed, cause, usage };
  return new ModelFailure(reason, message, options);
}

/** Returns an error with its causes, at most ten. */
export function causesOf(error: unknown): readonly unknown[] {
  const all: unknown[] = [];
  for (let each = error; each instanceof Error && all.length < 10; each = each.cause)
    all.push(each);
  return all;
}
