import { createHash, randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import type { SweeperPresence } from "@reeve/contracts/sweeper";
import { SweeperPresenceSchema } from "@reeve/contracts/sweeper";
import { shardCount } from "@reeve/jetstream/local-index/agenda";
import type { Table } from "@reeve/jetstream/table/port";
import type { Clock } from "@reeve/platform/async/clock";

/** Interval between two writes of the presence. It expires after three of them. */
const heartbeatMs = 5_000;
/** Time limit for removing the presence at the end. */
const removeTimeoutMs = 2_000;

/**
 * The shards of the runs that this process sweeps. The processes that sweep share all shards: each shard belongs to one of those
 * that are present. Two processes may own a shard for some seconds when one of them comes or goes.
 */
export class SharedShards {
  readonly #sweepers: Pick<Table<SweeperPresence>, "put" | "list" | "delete">;
  readonly #clock: Pick<Clock, "sleep">;
  readonly #self = randomUUID();
  #owned: readonly number[] = [];

  constructor(
    sweepers: Pick<Table<SweeperPresence>, "put" | "list" | "delete">,
    clock: Pick<Clock, "sleep">,
  ) {
    this.#sweepers = sweepers;
    this.#clock = clock;
  }

  /** The shards of this process, as of the last heartbeat. */
  get owned(): readonly number[] {
    return this.#owned;
  }

  /** Is present until `signal` aborts. Throws when the store does not answer; this process then keeps its shards. */
  async share(signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        const presence = create(SweeperPresenceSchema, { sweeper: this.#self });
        await this.#sweepers.put(this.#self, presence, signal);
        const present = await this.#sweepers.list("", signal);
        this.#owned = shardsOf(
          this.#self,
          present.map(({ key }) => key),
        );
        await this.#clock.sleep(heartbeatMs, signal);
      }
    } finally {
      if (signal.aborted) await this.#leave();
    }
  }

  async #leave(): Promise<void> {
    // A presence that is not removed expires.
    const signal = AbortSignal.timeout(removeTimeoutMs);
    await this.#sweepers.delete(this.#self, signal).catch(() => undefined);
  }
}

/** Returns the shards for which no other name ranks higher. A name that comes or goes moves only its own shards. */
export function shardsOf(self: string, names: readonly string[]): readonly number[] {
  const shards = Array.from({ length: shardCount }, (_, shard) => shard);
  return shards.filter((shard) => {
    const own = rank(self, shard);
    return names.every((name) => name === self || rank(name, shard) < own);
  });
}

function rank(name: string, shard: number): string {
  return createHash("sha256").update(`${name} ${shard}`).digest("hex");
}
