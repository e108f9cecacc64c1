import type { KeyedChange, UnreadableRow } from "../table/port.ts";
import { tenantOfKey } from "../table/unreadable-rows.ts";

/** The rows that an index lacks because they cannot be read, so that no list of their tenants is shown without them. */
export class UnreadableTenants {
  readonly #tenants = new Map<string, Map<string, UnreadableRow>>();

  /** Takes a change that the index applies. */
  note(change: KeyedChange<unknown>): void {
    const key = change.kind === "written" ? change.row.key : change.key;
    const tenant = tenantOfKey(key);
    const rows = this.#tenants.get(tenant);
    if (change.kind === "unreadable") {
      this.#tenants.set(tenant, (rows ?? new Map()).set(key, change));
    } else if (rows?.delete(key) === true && rows.size === 0) this.#tenants.delete(tenant);
  }

  /** Throws the Failure of a row of the tenant that cannot be read. */
  assertReadable(tenant: string): void {
    for (const { error } of this.#tenants.get(tenant)?.values() ?? []) throw error;
  }

  /** Returns all of them. */
  rows(): readonly UnreadableRow[] {
    return [...this.#tenants.values()].flatMap((rows) => [...rows.values()]);
  }

  clear(): void {
    this.#tenants.clear();
  }
}
