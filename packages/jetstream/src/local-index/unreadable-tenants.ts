import type { Failure } from "@reeve/platform/failure";
import type { KeyedChange } from "../table/port.ts";
import { tenantOfKey } from "../table/unreadable-rows.ts";

interface Unreadable {
  readonly revision: number;
  readonly error: Failure;
}

/** The rows that an index lacks because they cannot be read, so that no list of their tenants is shown without them. */
export class UnreadableTenants {
  readonly #tenants = new Map<string, Map<string, Unreadable>>();

  /** Takes a change that the index applies. */
  note(change: KeyedChange<unknown>): void {
    const key = change.kind === "written" ? change.row.key : change.key;
    const tenant = tenantOfKey(key);
    const rows = this.#tenants.get(tenant);
    if (change.kind === "unreadable") {
      const { revision, error } = change;
      this.#tenants.set(tenant, (rows ?? new Map()).set(key, { revision, error }));
    } else if (rows?.delete(key) === true && rows.size === 0) this.#tenants.delete(tenant);
  }

  /** Throws the Failure of a row of the tenant that cannot be read. */
  assertReadable(tenant: string): void {
    for (const { error } of this.#tenants.get(tenant)?.values() ?? []) throw error;
  }

  /** Returns the revision before that of the first such row, or `revision` if that is lower. */
  revisionBefore(revision: number): number {
    let before = revision;
    for (const rows of this.#tenants.values())
      for (const row of rows.values()) before = Math.min(before, row.revision - 1);
    return before;
  }

  clear(): void {
    this.#tenants.clear();
  }
}
