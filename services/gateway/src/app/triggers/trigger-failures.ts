import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** Returns the Failure of a trigger whose id is taken. */
export function triggerExists(triggerId: string): Failure {
  return new Failure(
    "exists",
    ErrorReason.TRIGGER_EXISTS,
    `trigger ${triggerId} already exists; update it instead`,
    { metadata: { trigger_id: triggerId } },
  );
}

/** Returns the Failure of a secret that a trigger with a schedule cannot have. */
export function withoutWebhook(triggerId: string): Failure {
  return new Failure(
    "precondition",
    ErrorReason.TRIGGER_WITHOUT_WEBHOOK,
    `trigger ${triggerId} has a schedule and no webhook, so it has no secret`,
    { metadata: { trigger_id: triggerId } },
  );
}

/** Returns the Failure of an update of another revision. */
export function revisionConflict(triggerId: string, revision: number): Failure {
  return new Failure(
    "conflict",
    ErrorReason.REVISION_CONFLICT,
    `trigger ${triggerId} was changed concurrently and is now at revision ${revision}; read it and retry`,
    { metadata: { trigger_id: triggerId, revision: String(revision) } },
  );
}
