import { create } from "@bufbuild/protobuf";
import type { NatsConnection } from "@nats-io/transport-node";
import type { CheckedRule, QueueHolder as HolderRow } from "@reeve/contracts/queue";
import { QueueHolderSchema } from "@reeve/contracts/queue";
import { Background } from "@reeve/platform/async/background";
import { Wakeup } from "@reeve/platform/async/coordination/wakeup";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { sleep } from "@reeve/platform/async/sleep";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { openTable } from "../table/nats.ts";
import type { Table } from "../table/port.ts";
import type { DeliveryLease } from "./delivery-lease.ts";
import type { HeldMessage } from "./held-messages.ts";
import { HeldMessages } from "./held-messages.ts";
import { answerHolderProbes, isConnected } from "./holder/holder-probe.ts";
import { HolderWatch } from "./holder/holder-watch.ts";
import type { LostRuns } from "./holder/lost-runs.ts";
import { takeLostRuns } from "./holder/lost-runs.ts";

/** How long after a settled message the row is written. A taken message is written at once: its taker may die at any time. */
const settledDelayMs = 100;
/** The pause after each write, for each message and run in the row, so that long rows are written less often; and its maximum. */
const pauseMsPerMessage = 0.1;
const maxPauseMs = 100;
/** How many runs a row names, the oldest ones: every process reads every row. Those beyond it are left to the time limits of the executor. */
const maxCarried = 1_000;
/** The longest time between two writes. A row expires after an hour. */
const maxWriteIntervalMs = 600_000;
/** Time limit for removing the row at the end. */
const removeTimeoutMs = 2_000;

/** What became of a holder. `alive`: it is connected. `ended`: it ended in order. `crashed`: its connection closed before. */
export type HolderFate = "alive" | "ended" | "crashed";

export interface QueueHolderOptions {
  /** The name of this process, unique for its lifetime. */
  readonly name: string;
  readonly log: Logger;
  /** The rules that this process checks, of those that earlier versions ignore. Default: none. */
  readonly checks?: readonly CheckedRule[];
  /** The executor of a runtime; empty: it drives runs itself. Default: empty. */
  readonly executor?: string;
}

/**
 * This process as a taker of messages. Others learn from its row which messages it holds, and release them when it is proven
 * dead; it does the same for others. Disposing it, after it has settled all of its messages, tells the others that it ended in
 * order.
 */
export class QueueHolder implements AsyncDisposable {
  readonly #connection: NatsConnection;
  readonly #table: Table<HolderRow>;
  readonly #name: string;
  readonly #checks: readonly CheckedRule[];
  readonly #executor: string;
  readonly #resources: AsyncDisposableStack;
  readonly #changed = new Wakeup();
  readonly #held = new HeldMessages((change) => {
    if (change === "taken") this.#changed.notify();
    else this.#notifyLater();
  });
  readonly #carried = new Set<{ readonly run: string }>();
  /** Runs from the first settled message, or run that was left, that the row still names. */
  #later: NodeJS.Timeout | undefined;

  private constructor(
    connection: NatsConnection,
    table: Table<HolderRow>,
    { name, checks = [], executor = "" }: QueueHolderOptions,
    resources: AsyncDisposableStack,
  ) {
    this.#connection = connection;
    this.#table = table;
    this.#name = name;
    this.#checks = checks;
    this.#executor = executor;
    this.#resources = resources;
  }

  /** Makes this process known to the other holders, and begins to watch them. */
  static async open(
    { connection }: { readonly connection: NatsConnection },
    options: QueueHolderOptions,
    signal: AbortSignal,
  ): Promise<QueueHolder> {
    const { name, log } = options;
    await using opening = new AsyncDisposableStack();
    const table = await openTable({ connection }, QueueHolderSchema);
    opening.use(answerHolderProbes(connection, name));
    // Does not end with the process signal: a process that drains still holds messages.
    const background = opening.use(new Background(log, neverAborts));
    const resources = new AsyncDisposableStack();
    const holder = new QueueHolder(connection, table, options, resources);
    await holder.#write(signal);
    const onReleased = () => {
      holder.#held.revoke();
      holder.#changed.notify();
    };
    const watch = await HolderWatch.open(connection, { table, self: name, onReleased, log });
    background.run((until) => holder.#keepWritten(until));
    background.run((until) => watch.follow(until));
    background.run((until) => watch.probe(until));
    resources.use(opening.move());
    return holder;
  }

  /** Tells the others that this process holds a message, until the returned object is disposed. */
  hold(message: HeldMessage, lease: DeliveryLease): Disposable {
    return this.#held.add(message, lease);
  }

  /** Tells the others that an executor gave this process a run, until the returned object is disposed. */
  carry(run: string): Disposable {
    const carried = { run };
    this.#carried.add(carried);
    this.#changed.notify();
    return {
      [Symbol.dispose]: () => {
        if (this.#carried.delete(carried)) this.#notifyLater();
      },
    };
  }

  /** See `takeLostRuns`. */
  lostRuns(signal: AbortSignal): AsyncIterable<LostRuns> {
    return takeLostRuns(this.#table, signal);
  }

  /** Returns what became of another holder. */
  async fateOf(name: string, signal: AbortSignal): Promise<HolderFate> {
    if (await isConnected(this.#connection, name, signal)) return "alive";
    // A holder that ends in order deletes its row before it closes its connection.
    return (await this.#table.get(name, signal)) === undefined ? "ended" : "crashed";
  }

  async #keepWritten(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#changed.waitFor(maxWriteIntervalMs, signal);
      this.#cancelLater();
      try {
        await this.#write(signal);
      } catch (error) {
        // The row is not written: the next attempt does not wait for a change.
        this.#changed.notify();
        throw error;
      }
      const entries = this.#held.size + Math.min(this.#carried.size, maxCarried);
      const pauseMs = Math.min(maxPauseMs, entries * pauseMsPerMessage);
      if (pauseMs >= 1) await sleep(pauseMs, signal);
    }
  }

  #notifyLater(): void {
    this.#later ??= setTimeout(() => this.#changed.notify(), settledDelayMs).unref();
  }

  #cancelLater(): void {
    clearTimeout(this.#later);
    this.#later = undefined;
  }

  async #write(signal: AbortSignal): Promise<void> {
    const held = this.#held.groups().map(({ sequences, ...place }) => ({
      ...place,
      sequences: sequences.map(BigInt),
    }));
    await this.#table.put(
      this.#name,
      create(QueueHolderSchema, {
        holder: this.#name,
        held,
        checks: [...this.#checks],
        executor: this.#executor,
        carriedRuns: [...new Set([...this.#carried].map(({ run }) => run))].slice(0, maxCarried),
      }),
      signal,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync();
    this.#cancelLater();
    const signal = AbortSignal.timeout(removeTimeoutMs);
    // A row that is not removed makes this end look like a crash.
    await this.#table.delete(this.#name, signal).catch(() => undefined);
  }
}
