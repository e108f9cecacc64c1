import { setTimeout as wait } from "node:timers/promises";
import type { ToolCatalog } from "@reeve/contracts/tool";
import type { ToolhostPresence } from "@reeve/contracts/toolhost";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Row, Table } from "@reeve/jetstream/table/port";
import type { Peers } from "@reeve/calls/ports/routing";
import { beatMs } from "./presence-heartbeat.ts";

/** How long a host counts as living after it was last heard of. */
const goneMs = 10_000;
/** How long a host may be silent before somebody looks whether anyone listens there. */
const silentMs = 1.5 * beatMs;
const lookMs = 500;
const retryMs = 1_000;

interface Heard {
  readonly row: Row<ToolhostPresence>;
  /** By the clock of this process; long ago for one that was there before this process was. */
  readonly atMs: number;
  /** How often nobody listened since it was last heard of. */
  readonly missed: number;
}

export interface LivePeersOptions {
  readonly host: string;
  readonly presence: Table<ToolhostPresence>;
  readonly catalogs: () => readonly ToolCatalog[];
  readonly listensAt: (host: string) => Promise<boolean>;
  /** Hears of each host that ends, drains, or comes. */
  readonly onChange: () => void;
  readonly log: Logger;
}

/**
 * The other hosts as their presence tells, kept fresh by a watch. A host that is silent, and where nobody listens two times one
 * after the other, is taken out of the table for all, unless it has spoken meanwhile.
 */
export class LivePeers implements Peers {
  readonly #options: LivePeersOptions;
  readonly #heard = new Map<string, Heard>();

  constructor(options: LivePeersOptions) {
    this.#options = options;
  }

  list(): readonly ToolhostPresence[] {
    const since = performance.now() - goneMs;
    return [...this.#heard.values()]
      .filter(({ atMs }) => atMs >= since)
      .map(({ row }) => row.record);
  }

  offers(host: string, tool: string): boolean {
    return this.#options
      .catalogs()
      .some((catalog) => catalog.host === host && catalog.tools.some(({ name }) => name === tool));
  }

  listens(host: string): Promise<boolean> {
    return this.#options.listensAt(host);
  }

  async isGone(host: string, signal: AbortSignal): Promise<boolean> {
    return (await this.#options.presence.get(host, signal)) === undefined;
  }

  /** Follows the table until `signal` aborts; `onCurrent` hears when everything is known that was there at the start. */
  async follow(onCurrent: () => void, signal: AbortSignal): Promise<void> {
    const { presence, log } = this.#options;
    while (!signal.aborted) {
      try {
        let isCurrent = false;
        for await (const change of presence.watch("", signal)) {
          if (change.kind === "current") {
            isCurrent = true;
            onCurrent();
          } else if (change.kind === "written") this.#hear(change.row, isCurrent);
          else this.#lose(change.key);
        }
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ err: error }, "watch of the other toolhosts broke; opening it again");
        await wait(retryMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /** Looks after hosts that are silent, until `signal` aborts. */
  async probeSilent(signal: AbortSignal): Promise<void> {
    for (;;) {
      await wait(lookMs, undefined, { signal });
      const now = performance.now();
      for (const [host, heard] of this.#heard) {
        if (now - heard.atMs > goneMs) this.#lose(host);
        else if (now - heard.atMs > silentMs) await this.#suspect(host, heard, signal);
      }
    }
  }

  #hear(row: Row<ToolhostPresence>, isCurrent: boolean): void {
    if (row.key === this.#options.host) return;
    const before = this.#heard.get(row.key);
    const atMs = performance.now() - (isCurrent ? 0 : silentMs);
    this.#heard.set(row.key, { row, atMs, missed: 0 });
    if (before?.row.record.draining !== row.record.draining) this.#options.onChange();
  }

  #lose(host: string): void {
    if (this.#heard.delete(host)) this.#options.onChange();
  }

  async #suspect(host: string, heard: Heard, signal: AbortSignal): Promise<void> {
    const { listensAt, presence, log } = this.#options;
    const listens = await listensAt(host);
    if (this.#heard.get(host) !== heard) return;
    if (listens) return;
    this.#heard.set(host, { ...heard, missed: heard.missed + 1 });
    if (heard.missed === 0) return;
    log.info({ gone: host }, "a toolhost is gone");
    if (await presence.deleteVersion(host, heard.row.revision, signal)) this.#lose(host);
  }
}
