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
    { cause: new KeysProblem(`REEVE_ENCRYPTION_KEYS: ${problem}`, { cause }) },
  );
}

/** Returns the Failure for a data key that is not there: it was lost, or no process has created it yet. */
export function dataKeyMissing(problem: string): Failure {
  const message = `a payload cannot be encrypted or decrypted now: ${problem}; try again later`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message, {
    cause: new KeysProblem(problem),
  });
}

/** Returns the Failure for a data key that the key of its tenant does not decrypt: one of the two is another one than before. */
export function dataKeyNotAuthentic(tenant: string): Failure {
  const place = `a data key of tenant ${tenant}`;
  return notAuthentic(place, new KeysProblem(`the key of tenant ${tenant} does not decrypt it`));
}

/** Returns the Failure for a data key that is not the one that this process knows: what it has sealed would be lost. */
export function dataKeyReplaced(tenant: string, id: string): Failure {
  const problem = `the data key ${id} of tenant ${tenant} was replaced by another one`;
  const message = `${problem} in the bucket tenant_data_keys; restore it from a backup`;
  return new Failure("data_loss", ErrorReason.HISTORY_LOST, message, {
    cause: new KeysProblem(problem),
  });
}

/** Returns the Failure for encrypted data in a process that has no keys. */
export function keysMissing(tenant: string): Failure {
  return new Failure(
    "precondition",
    ErrorReason.INVALID_REQUEST,
    `data of tenant ${tenant} is encrypted, and this process has no keys; set REEVE_ENCRYPTION_KEYS as in the process that stored it`,
    { cause: new KeysProblem("REEVE_ENCRYPTION_KEYS is not set") },
  );
}

/** Why there is no key that decrypts a payload: the cause of a Failure. */
class KeysProblem extends Error {}

/**
 * Whether something failed because its key is not available now, or is the wrong one. The payloads themselves may be intact. It may take
 * as long as an operator needs.
 */
export function isKeysUnavailable(error: unknown): boolean {
  return error instanceof Failure && error.cause instanceof KeysProblem;
}

/** Whether something failed because the key of a tenant is gone. Repeating it does not help. */
export function isTenantKeyDeleted(error: unknown): error is Failure {
  return error instanceof Failure && error.reason === ErrorReason.TENANT_KEY_DELETED;
}

/** Whether data cannot be read, and repeating it does not help: its tenant's key was deleted, or it was altered. */
export function isUnreadableForGood(error: unknown): boolean {
  return isTenantKeyDeleted(error) || (error instanceof Failure && error.kind === "data_loss");
}

/** Returns the Failure for bytes that are not what was encrypted at their place, or with their key. */
export function notAuthentic(place: string, cause?: unknown): Failure {
  return new Failure(
    "data_loss",
    ErrorReason.HISTORY_LOST,
    `what is stored at ${place} was not encrypted for this place, or was altered; restore it from a backup`,
    { cause },
  );
}
