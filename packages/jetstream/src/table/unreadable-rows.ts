import { ErrorReason } from "@reeve/contracts/error";
import { delayAfter } from "@reeve/platform/async/retry/backoff";
import { Failure } from "@reeve/platform/failure";
import type { KeyedChange } from "./port.ts";

/** When the rows of a tenant are read again. */
export interface RetryDelays {
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
}

export const defaultRetryDelays: RetryDelays = { firstDelayMs: 1_000, maxDelayMs: 30_000 };
/** How many rows wait at a time. With more, a watch fails as it would for a store that is away. */
const maxWaiting = 100_000;

interface WaitingTenant {
  readonly tenant: string;
  /** The revision of each row. Those that failed last are at the end. */
  readonly revisions: Map<string, number>;
  failures: number;
  dueMs: number;
}

/** A row that is to be read again. */
export interface WaitingRow {
  readonly key: string;
  readonly revision: number;
}

/** The rows that a watch could not read, by tenant, and when it reads those of each tenant again. */
export class UnreadableRows {
  readonly #delays: RetryDelays;
  readonly #tenants = new Map<string, WaitingTenant>();
  #count = 0;

  constructor(delays: RetryDelays) {
    this.#delays = delays;
  }

  /** Takes a change: its row waits from now on, or does not wait any more. */
  note(change: KeyedChange<unknown>, nowMs: number): void {
    if (change.kind !== "unreadable") {
      this.#remove(change.kind === "written" ? change.row.key : change.key);
      return;
    }
    const { key, revision } = change;
    const tenant = tenantOfKey(key);
    const known = this.#tenants.get(tenant);
    const waiting = known ?? { tenant, revisions: new Map(), failures: 1, dueMs: Infinity };
    if (known === undefined) {
      waiting.dueMs = nowMs + delayAfter(1, this.#delays);
      this.#tenants.set(tenant, waiting);
    }
    if (!waiting.revisions.delete(key) && ++this.#count > maxWaiting) throw tooMany();
    waiting.revisions.set(key, revision);
  }

  /** Returns in how many milliseconds a tenant is due: 0 or less for one that is. Undefined: no row waits. */
  waitMs(nowMs: number): number | undefined {
    const next = this.#next();
    return next && next.dueMs - nowMs;
  }

  /** Returns the rows of the tenant that is due first, at most `limit`. */
  due(limit: number): readonly WaitingRow[] {
    const rows = [...(this.#next()?.revisions ?? [])].slice(0, limit);
    return rows.map(([key, revision]) => ({ key, revision }));
  }

  /** Takes what became of rows of `due`. If some could be read, the next ones are due at once. */
  tried(changes: readonly KeyedChange<unknown>[], nowMs: number): void {
    const waiting = this.#next();
    for (const change of changes) this.note(change, nowMs);
    if (waiting === undefined) return;
    const isProgress = changes.some(({ kind }) => kind !== "unreadable");
    waiting.failures = isProgress ? 0 : waiting.failures + 1;
    waiting.dueMs = isProgress ? nowMs : nowMs + delayAfter(waiting.failures, this.#delays);
  }

  #remove(key: string): void {
    const tenant = tenantOfKey(key);
    const waiting = this.#tenants.get(tenant);
    if (waiting?.revisions.delete(key) !== true) return;
    this.#count--;
    if (waiting.revisions.size === 0) this.#tenants.delete(tenant);
  }

  #next(): WaitingTenant | undefined {
    let first: WaitingTenant | undefined;
    for (const waiting of this.#tenants.values()) {
      if (first === undefined || waiting.dueMs < first.dueMs) first = waiting;
    }
    return first;
  }
}

export function tenantOfKey(key: string): string {
  return key.split(".", 1)[0] ?? "";
}

function tooMany(): Failure {
  const message = `more than ${maxWaiting} rows of tenants cannot be read; make the keys of these tenants available, or delete them with \`reeve tenants delete-key\``;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
}
