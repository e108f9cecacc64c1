import { bucketOf } from "@reeve/contracts/channel";
import type { ToolCatalog } from "@reeve/contracts/tool";
import { ToolCatalogSchema } from "@reeve/contracts/tool";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Table } from "@reeve/jetstream/table/port";

const { key: keyOf } = bucketOf(ToolCatalogSchema);

/** Writes the catalog of a host, one write at a time. A change during a write is written after it. */
export class Announcer {
  readonly #table: Table<ToolCatalog>;
  readonly #catalog: () => ToolCatalog;
  readonly #log: Logger;
  readonly #signal: AbortSignal;
  #isWriting = false;
  #isStale = false;

  constructor(
    table: Table<ToolCatalog>,
    catalog: () => ToolCatalog,
    log: Logger,
    signal: AbortSignal,
  ) {
    this.#table = table;
    this.#catalog = catalog;
    this.#log = log;
    this.#signal = signal;
  }

  /** Announces the tools now. Throws a Failure when the table does not answer. */
  async announce(): Promise<void> {
    const catalog = this.#catalog();
    const { pool, host } = catalog;
    await this.#table.put(keyOf({ pool, host }), catalog, this.#signal);
  }

  /** Announces a change in its turn. A failure is logged; the next announcement includes the change. */
  changed(): void {
    this.#isStale = true;
    if (!this.#isWriting) void this.#write();
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    while (this.#isStale && !this.#signal.aborted) {
      this.#isStale = false;
      try {
        await this.announce();
      } catch (error) {
        if (!this.#signal.aborted) this.#log.warn({ err: error }, "tools not announced");
      }
    }
    this.#isWriting = false;
  }
}
