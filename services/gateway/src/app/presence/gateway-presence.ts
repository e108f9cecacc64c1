import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampMs, timestampNow } from "@bufbuild/protobuf/wkt";
import { ErrorReason } from "@reeve/contracts/error";
import type { SweeperPresence } from "@reeve/contracts/sweeper";
import { SweeperPresenceSchema } from "@reeve/contracts/sweeper";
import type { Row, Table } from "@reeve/jetstream/table/port";
import type { Clock } from "@reeve/platform/async/clock";
import { Notifier } from "@reeve/platform/async/coordination/notifier";
import { Wakeup } from "@reeve/platform/async/coordination/wakeup";
import { sleep } from "@reeve/platform/async/sleep";
import { runTogether } from "@reeve/platform/async/run-together";
import { Failure } from "@reeve/platform/failure";
import { shardsOf } from "./shards-of.ts";

/** Interval between two writes of the presence. It expires after three of them. */
const heartbeatMs = 5_000;
/** For how long after the beginning of a write others certainly see the presence: shorter than until it expires. */
const leaseMs = 8_000;
/** After this time without a write of its presence, another gateway is taken for dead by those that would read logs instead of it. */
const silentMs = 8_000;
/** Interval between two looks for gateways that have become silent. */
const silenceCheckMs = 1_000;
/** How long to wait for one that acts alone: longer than its row can exist after its end, so only while the store does not answer. */
const maxWaitMs = 25_000;
/** Time limit for removing the presence at the end. */
const removeTimeoutMs = 2_000;

type PresenceTable = Pick<Table<SweeperPresence>, "put" | "list" | "delete" | "watch">;

/** A time in which this gateway is the only one of its store. */
interface Sole {
  /** Differs from that of every other time. */
  readonly period: number;
  readonly untilMs: number;
}

/**
 * The presence of this gateway among the gateways of its store, and what follows from it: which shards of runs it sweeps, which logs it
 * reads for the indexes, and whether it is alone.
 *
 * A gateway that is alone knows that no other gateway changes an agent. Before it acts on that, it says so in its row and then finds no other
 * row. A gateway that sees such a row changes no agent until the row says otherwise, or has expired. Each gateway uses its clock only to
 * measure for how long its own row certainly exists.
 */
export class GatewayPresence {
  readonly #table: PresenceTable;
  readonly #clock: Pick<Clock, "now">;
  readonly #self = randomUUID();
  readonly #since: Timestamp;
  readonly #beat = new Wakeup();
  readonly #changed = new Notifier();
  #owned: readonly number[] = [];
  /** As of the last heartbeat. Undefined: there was none, or this gateway has left. */
  #others: readonly Row<SweeperPresence>[] | undefined;
  /** When this gateway has first seen the present revision of the row of each other one. */
  readonly #heard = new Map<string, { readonly revision: number; readonly atMs: number }>();
  #joinedUntilMs = -Infinity;
  #sole: Sole | undefined;
  #periods = 0;
  #hasLeft = false;

  /** `clock` never jumps back, and counts the time for which the machine was suspended. `since` orders the gateways. Default: now. */
  constructor(table: PresenceTable, clock: Pick<Clock, "now">, since = timestampNow()) {
    this.#table = table;
    this.#clock = clock;
    this.#since = since;
  }

  /**
   * The shards of runs that this gateway sweeps, as of the last heartbeat. Each shard belongs to one of the gateways that are present.
   * Two may own a shard for some seconds when one of them comes or goes.
   */
  get owned(): readonly number[] {
    return this.#owned;
  }

  /** Identifies a time without interruption in which this gateway is alone. Undefined: another one may be present. */
  get solePeriod(): number | undefined {
    const sole = this.#sole;
    return sole !== undefined && this.#clock.now() < sole.untilMs ? sole.period : undefined;
  }

  /**
   * Resolves when no other gateway acts alone. Throws a Failure of kind `unavailable` after this gateway has left, and after 25
   * seconds.
   */
  async untilNoOtherIsSole(signal: AbortSignal): Promise<void> {
    using changes = this.#changed.subscribe();
    const endMs = this.#clock.now() + maxWaitMs;
    while (!this.#seesNoOtherSole()) {
      if (this.#hasLeft) throw hasLeft();
      const leftMs = endMs - this.#clock.now();
      if (leftMs <= 0) throw mayBeInUse();
      await changes.waitFor(leftMs, signal);
    }
  }

  /**
   * Whether this gateway reads a shard of the store's logs for the indexes: the gateways that came last, in turns. So the successor
   * of one that was killed does not wait until its presence expires, and without a successor another one reads after eight seconds. Two may
   * read a shard for some seconds.
   */
  reads(shard: number): boolean {
    if (this.#others === undefined) return false;
    const readers = [
      { name: this.#self, since: this.#since },
      ...this.#others.flatMap(({ key, record: { since } }) =>
        since && !this.#isSilent(key) ? [{ name: key, since }] : [],
      ),
    ].toSorted(newestFirst);
    return readers[shard % readers.length]?.name === this.#self;
  }

  /** Notifies when what this gateway reads may have changed. */
  get changed(): Pick<Notifier, "subscribe"> {
    return this.#changed;
  }

  /**
   * Is present until `signal` aborts. Throws when the store does not answer, or has lost the bucket; this gateway then keeps its shards, and
   * does not count as alone.
   */
  async share(signal: AbortSignal): Promise<void> {
    try {
      const jobs = [this.#follow, this.#beats, this.#noticesSilence];
      await runTogether(
        jobs.map((job) => (until) => job.call(this, until)),
        signal,
      );
    } finally {
      // Its row may be gone before its time.
      this.#sole = undefined;
      if (signal.aborted) await this.#leave();
    }
  }

  async #beats(signal: AbortSignal): Promise<never> {
    for (;;) {
      const wasAlone = this.#others?.length === 0;
      await this.#write(wasAlone, signal);
      // What it says of itself has to follow at once.
      const isAlone = this.#others?.length === 0;
      if (isAlone === wasAlone) await this.#beat.waitFor(heartbeatMs, signal);
    }
  }

  async #write(isSole: boolean, signal: AbortSignal): Promise<void> {
    const beganMs = this.#clock.now();
    // A time that ends begins no other one before the row says so again.
    if (!isSole) this.#sole = undefined;
    const since = this.#since;
    const presence = create(SweeperPresenceSchema, { sweeper: this.#self, isSole, since });
    await this.#table.put(this.#self, presence, signal);
    const period = this.solePeriod;
    const present = await this.#table.list("", signal);
    const names = present.map(({ key }) => key);
    this.#owned = shardsOf(this.#self, names);
    const others = present.filter(({ key }) => key !== this.#self);
    this.#others = others;
    for (const other of others) this.#hear(other);
    for (const key of this.#heard.keys()) if (!names.includes(key)) this.#heard.delete(key);
    this.#joinedUntilMs = beganMs + leaseMs;
    this.#sole =
      isSole && others.length === 0
        ? { period: period ?? ++this.#periods, untilMs: beganMs + leaseMs }
        : undefined;
    this.#changed.notify();
  }

  /** Writes the presence again when another gateway comes, goes, or says something else of itself. */
  async #follow(signal: AbortSignal): Promise<void> {
    for await (const change of this.#table.watch("", signal)) {
      if (change.kind === "current") continue;
      const key = change.kind === "written" ? change.row.key : change.key;
      if (key === this.#self) continue;
      if (change.kind === "written") this.#hear(change.row);
      const known = this.#others?.find((other) => other.key === key);
      const isNews =
        change.kind === "written"
          ? known?.record.isSole !== change.row.record.isSole
          : known !== undefined;
      if (isNews) this.#beat.notify();
    }
  }

  #hear({ key, revision }: Row<unknown>): void {
    if (this.#heard.get(key)?.revision === revision) return;
    this.#heard.set(key, { revision, atMs: this.#clock.now() });
  }

  #isSilent(key: string): boolean {
    return this.#clock.now() >= (this.#heard.get(key)?.atMs ?? Infinity) + silentMs;
  }

  async #noticesSilence(signal: AbortSignal): Promise<never> {
    for (;;) {
      await sleep(silenceCheckMs, signal);
      if (this.#heard.size > 0) this.#changed.notify();
    }
  }

  #seesNoOtherSole(): boolean {
    if (this.#others === undefined || this.#clock.now() >= this.#joinedUntilMs) return false;
    return !this.#others.some(({ record }) => record.isSole);
  }

  async #leave(): Promise<void> {
    this.#hasLeft = true;
    this.#sole = undefined;
    this.#others = undefined;
    this.#changed.notify();
    // A presence that is not removed expires.
    const signal = AbortSignal.timeout(removeTimeoutMs);
    await this.#table.delete(this.#self, signal).catch(() => undefined);
  }
}

interface Reader {
  readonly name: string;
  readonly since: Timestamp;
}

function newestFirst(a: Reader, b: Reader): number {
  return timestampMs(b.since) - timestampMs(a.since) || (a.name < b.name ? -1 : 1);
}

function hasLeft(): Failure {
  const problem = "this gateway is shutting down; ask another one, or this one again later";
  return new Failure("unavailable", ErrorReason.DRAINING, problem);
}

function mayBeInUse(): Failure {
  const problem =
    "nothing was changed: another gateway may still use what was there before, or the store does not answer; try again in a few seconds";
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
}
