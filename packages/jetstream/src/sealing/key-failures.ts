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
