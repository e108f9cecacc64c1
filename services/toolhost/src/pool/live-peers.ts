import type { Peers } from "@reeve/calls/ports/routing";
import type { ToolCatalog } from "@reeve/contracts/tool";
import type { ToolhostPresence } from "@reeve/contracts/toolhost";
import type { Row, Table } from "@reeve/jetstream/table/port";
import { sleep } from "@reeve/platform/async/sleep";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { heartbeatMs } from "./presence-heartbeat.ts";

/** How long a host counts as live after it was last heard from. */
const goneMs = 10_000;
/** How long a host may be silent before it is probed. */
const silentMs = 1.5 * heartbeatMs;
/** Interval between searches for silent hosts. */
const probeIntervalMs = 500;
const retryMs = 1_000;

interface Heard {
  readonly row: Row<ToolhostPresence>;
  /** In monotonic time. Long ago for a host that was there before this process. */
  readonly atMs: number;
  /** How many probes failed since it was last heard from. */
  readonly missed: number;
}

export interface LivePeersOptions {
  readonly host: string;
  readonly presence: Table<ToolhostPresence>;
  readonly catalogs: () => readonly ToolCatalog[];
  /** Probes a host. */
  readonly isListening: (host: string) => Promise<boolean>;
  /** Called when a host ends, drains, or appears. */
  readonly onChange: () => void;
  readonly log: Logger;
}

/**
 * The other hosts, kept up to date by a watch of their presences. A silent host that fails two probes in a row is removed from
 * the table for all hosts, unless it was heard from meanwhile.
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
    return this.#options.isListening(host);
  }

  async isGone(host: string, signal: AbortSignal): Promise<boolean> {
    return (await this.#options.presence.get(host, signal)) === undefined;
  }

  /** Follows the table until `signal` aborts. Calls `onCurrent` when all presences that existed at the start are known. */
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
        log.warn({ err: error }, "cannot watch the other toolhosts; trying again");
        await sleep(retryMs, signal).catch(() => undefined);
      }
    }
  }

  /** Probes silent hosts until `signal` aborts. */
  async probeSilent(signal: AbortSignal): Promise<void> {
    for (;;) {
      await sleep(probeIntervalMs, signal);
      const now = performance.now();
      for (const [host, heard] of this.#heard) {
        if (now - heard.atMs > goneMs) this.#lose(host);
        else if (now - heard.atMs > silentMs) await this.#probe(host, heard, signal);
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

  async #probe(host: string, heard: Heard, signal: AbortSignal): Promise<void> {
    const { isListening, presence, log } = this.#options;
    const listens = await isListening(host);
    if (this.#heard.get(host) !== heard) return;
    if (listens) return;
    this.#heard.set(host, { ...heard, missed: heard.missed + 1 });
    if (heard.missed === 0) return;
    log.info({ gone: host }, "a toolhost is gone");
    if (await presence.deleteVersion(host, heard.row.revision, signal)) this.#lose(host);
  }
}
