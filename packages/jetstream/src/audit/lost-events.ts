/** How many tenants are told apart. */
const maxTenants = 1_000;

/** Counts lost events by tenant. Those of further tenants count as events without a tenant. */
export class LostEvents {
  readonly #counts = new Map<string, number>();

  add(tenant: string): void {
    const isCounted = this.#counts.has(tenant) || this.#counts.size < maxTenants;
    const key = isCounted ? tenant : "";
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  entries(): readonly (readonly [tenant: string, count: number])[] {
    return [...this.#counts];
  }

  /** Subtracts what was reported. */
  remove(tenant: string, count: number): void {
    const left = (this.#counts.get(tenant) ?? 0) - count;
    if (left > 0) this.#counts.set(tenant, left);
    else this.#counts.delete(tenant);
  }
}
