/** How many tenants' keys are remembered. The oldest ones are forgotten first, and are then read again. */
const maxTenants = 16;

/**
 * The keys of a tenant, in order, since the first page of its list was read. The further pages then read their own rows only: a list
 * of n pages would otherwise read all rows n times.
 */
export class WalkedKeys {
  readonly #keys = new Map<string, readonly string[]>();

  /** Returns the keys of the tenant; undefined if its first page was not read here, or long ago. */
  of(tenant: string): readonly string[] | undefined {
    return this.#keys.get(tenant);
  }

  begin(tenant: string, keys: readonly string[]): void {
    this.#keys.delete(tenant);
    this.#keys.set(tenant, keys);
    for (const oldest of this.#keys.keys()) {
      if (this.#keys.size <= maxTenants) break;
      this.#keys.delete(oldest);
    }
  }

  end(tenant: string): void {
    this.#keys.delete(tenant);
  }
}
