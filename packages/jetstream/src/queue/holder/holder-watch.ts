import type { JetStreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import type { QueueHolder as HolderRow } from "@reeve/contracts/queue";
import { sleep } from "@reeve/platform/async/sleep";
import { connectionStateOf } from "@reeve/platform/nats/connection-state";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { openJetStreamManager } from "../../streams/ensure-stream.ts";
import type { Row, Table } from "../../table/port.ts";
import type { HeldGroup } from "../held-messages.ts";
import { isConnected } from "./holder-probe.ts";
import { releaseMessages } from "../release-messages.ts";

/** Interval between two probes of a holder. Two that find no listener prove that it is dead. */
const probeIntervalMs = 250;
/** How many holders each one watches: those that follow it in the order of their names. */
const watchedHolders = 2;
/** How long others may take to connect again after this process did: their servers may have restarted. */
const settleMs = 2_000;

export interface HolderWatchOptions {
  readonly table: Table<HolderRow>;
  /** The name of this process. */
  readonly self: string;
  /** Called when another process has released the messages of this one. */
  readonly onReleased: () => void;
  readonly log: Logger;
}

/**
 * Watches the next holders in the ring of all holders, and releases the messages of one that is proven dead: its connection is
 * closed, and it did not come back. A process that stands still keeps its connection, so only the ack-wait counts for it. A
 * process whose connection broke may be taken for dead; that costs it its runs, and time, but the fences of logs and leases
 * keep everything correct.
 */
export class HolderWatch {
  readonly #connection: NatsConnection;
  readonly #manager: JetStreamManager;
  readonly #options: HolderWatchOptions;
  readonly #rows = new Map<string, Row<HolderRow>>();
  /** Holders whose last probe found no listener. */
  #suspects: ReadonlySet<string> = new Set();
  #connectedAt = -Infinity;

  private constructor(
    connection: NatsConnection,
    manager: JetStreamManager,
    options: HolderWatchOptions,
  ) {
    this.#connection = connection;
    this.#manager = manager;
    this.#options = options;
    connectionStateOf(connection).onChange(() => {
      this.#connectedAt = performance.now();
    });
  }

  static async open(connection: NatsConnection, options: HolderWatchOptions): Promise<HolderWatch> {
    return new HolderWatch(connection, await openJetStreamManager(connection), options);
  }

  /** Follows the rows of all holders until `signal` aborts. */
  async follow(signal: AbortSignal): Promise<void> {
    const { table, self, onReleased } = this.#options;
    for await (const change of table.watch("", signal)) {
      if (change.kind === "current") continue;
      if (change.kind === "deleted") this.#rows.delete(change.key);
      else if (change.kind === "written") {
        this.#rows.set(change.row.key, change.row);
        if (change.row.key === self && change.row.record.crashed) onReleased();
      }
    }
  }

  /** Probes the watched holders until `signal` aborts. */
  async probe(signal: AbortSignal): Promise<void> {
    const { self } = this.#options;
    for (;;) {
      await sleep(probeIntervalMs, signal);
      const isSettled =
        connectionStateOf(this.#connection).isUp &&
        performance.now() - this.#connectedAt > settleMs;
      const watched = isSettled ? this.#watched() : [];
      const absent = new Set<string>();
      const probeOne = async (row: Row<HolderRow>) => {
        const responsible = responsibleFor(row);
        const isOwn = responsible === self;
        if (!isOwn && (await isConnected(this.#connection, responsible, signal))) return;
        if (isOwn || this.#suspects.has(responsible)) await this.#release(row, signal);
        else absent.add(responsible);
      };
      await Promise.all(watched.map(probeOne));
      this.#suspects = absent;
    }
  }

  #watched(): readonly Row<HolderRow>[] {
    const { self } = this.#options;
    const others = [...this.#rows.values()]
      .filter(({ key, record }) => key !== self && !isReleased(record))
      .toSorted((a, b) => (a.key < b.key ? -1 : 1));
    const next = others.findIndex(({ key }) => key > self);
    const ring = next === -1 ? others : [...others.slice(next), ...others.slice(0, next)];
    return ring.slice(0, watchedHolders);
  }

  /**
   * Releases the messages of a dead holder, unless it has written its row meanwhile, or another holder releases them. Its row
   * names the messages until all are released, so that another holder continues when this one dies.
   */
  async #release({ key, record, revision }: Row<HolderRow>, signal: AbortSignal): Promise<void> {
    const { table, self, log } = this.#options;
    const row = { ...record, crashed: true, releasedBy: self };
    const marked = await table.update(key, row, revision, signal);
    if (marked === undefined) return;
    this.#rows.set(key, marked);
    const groups = record.held.map((group) => this.#without(group));
    const messages = groups.reduce((sum, { sequences }) => sum + sequences.length, 0);
    log.info({ holder: key, messages }, "a holder of messages is dead; releasing its messages");
    await releaseMessages(this.#connection, this.#manager, groups, signal);
    const released = await table.update(key, { ...row, held: [] }, marked.revision, signal);
    if (released !== undefined) this.#rows.set(key, released);
  }

  /** Returns the messages of a dead holder without those that were delivered to another holder since. */
  #without({ stream, consumer, sequences }: HolderRow["held"][number]): HeldGroup {
    const taken = new Set(
      [...this.#rows.values()]
        .flatMap(({ record }) => (record.crashed ? [] : record.held))
        .filter((group) => group.stream === stream && group.consumer === consumer)
        .flatMap((group) => group.sequences),
    );
    return {
      stream,
      consumer,
      sequences: sequences.filter((sequence) => !taken.has(sequence)).map(Number),
    };
  }
}

/** Whether nothing is left to do for a holder: it is dead, and its messages are released. */
function isReleased({ crashed, held }: HolderRow): boolean {
  return crashed && held.length === 0;
}

/** Returns the name of the process that takes care of the messages of a row while it lives. */
function responsibleFor({ key, record: { crashed, releasedBy } }: Row<HolderRow>): string {
  return crashed && releasedBy !== "" ? releasedBy : key;
}
