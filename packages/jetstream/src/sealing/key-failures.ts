import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

/** Returns the Failure for everything that was encrypted for a tenant whose key is gone. */
export function tenantKeyDeleted(tenant: string): Failure {
  return new Failure(
    "precondition",
    ErrorReason.TENANT_KEY_DELETED,
    `the key of tenant ${tenant} was deleted, so its data cannot be read, and nothing can be stored for it; use another name for a new tenant`,
    { metadata: { tenant } },
  );
}

/**
 * Returns the Failure for a store of keys that cannot be used now. Its problem may name folders and addresses, so only the cause has it:
 * callers of the API read the message.
 */
export function keysUnavailable(problem: string, cause?: unknown): Failure {
  return new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    "the keys of tenants are not available; try again later; the log of the service says why",
    { cause: new Error(`REEVE_ENCRYPTION_KEYS: ${problem}`, { cause }) },
  );
}

/** Whether something failed because the key of a tenant is gone. Repeating it does not help. */
export function isTenantKeyDeleted(error: unknown): boolean {
  return error instanceof Failure && error.reason === ErrorReason.TENANT_KEY_DELETED;
}

/** Returns the Failure for bytes that are not what was encrypted at their place, or with their key. */
export function notAuthentic(place: string): Failure {
  return new Failure(
    "data_loss",
    ErrorReason.HISTORY_LOST,
    `what is stored at ${place} was not encrypted for this place, or was altered; restore it from a backup`,
  );
}
