/** A data key, encrypted with the key of a tenant. */
export interface WrappedKey {
  /** The version of the tenant's key. */
  readonly version: string;
  readonly bytes: Uint8Array;
}

/**
 * The keys of tenants (key encryption keys). They never leave the store: it encrypts and decrypts the data keys with which payloads
 * are encrypted. Methods throw a Failure: of kind `precondition` with the reason TENANT_KEY_DELETED for a tenant whose key was
 * certainly deleted, and of kind `unavailable` when the store does not answer, or does not have the key.
 */
export interface KeyStore {
  /** Encrypts a data key with the current version of the tenant's key. */
  wrap(tenant: string, dataKey: Uint8Array, signal: AbortSignal): Promise<WrappedKey>;
  /** Decrypts a data key. Throws a Failure of kind `data_loss` if the key or its tenant is not the one of `wrapped`. */
  unwrap(tenant: string, wrapped: WrappedKey, signal: AbortSignal): Promise<Uint8Array>;
}

/** Changes the keys of tenants, for operators. */
export interface KeyAdmin {
  /** Keeps other commands from changing the key until the lock is disposed. Throws a Failure of kind `conflict` if one is at it. */
  lock(tenant: string, signal: AbortSignal): Promise<AsyncDisposable>;
  /** Creates a version of the key, with which data keys are encrypted from now on. Earlier versions still decrypt. */
  rotate(tenant: string, signal: AbortSignal): Promise<void>;
  /** Deletes all versions before `oldest`. No data key that is still in use may be encrypted with them. */
  retire(tenant: string, oldest: string, signal: AbortSignal): Promise<void>;
  /** Deletes all versions of the key for good. A tenant without a key gets none afterwards. Repeating it changes nothing. */
  delete(tenant: string, signal: AbortSignal): Promise<void>;
}

/** Returns the number of a version: versions of a key are counted up. */
export function versionNumber(version: string): number {
  return Number(version.replace(/^v/, ""));
}
