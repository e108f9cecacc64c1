import { setTimeout as wait } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { ToolhostPresence } from "@reeve/contracts/toolhost";
import { ToolhostPresenceSchema } from "@reeve/contracts/toolhost";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Table } from "@reeve/jetstream/table/port";
import type { Slots } from "@reeve/calls/queue/slots";

/** How often a host says that it lives. */
export const beatMs = 2_000;
/** How long the last word of a host that ends may take. */
const farewellMs = 2_000;

export interface PresenceOptions {
  readonly host: string;
  readonly pool: string;
  readonly slots: Slots;
  readonly log: Logger;
}

/** That this host lives, as others read it: said every two seconds from `begin` on, and taken back when it is disposed. */
export class PresenceHeartbeat implements AsyncDisposable {
  readonly #table: Table<ToolhostPresence>;
  readonly #options: PresenceOptions;
  readonly #since = timestampNow();
  readonly #end = new AbortController();
  #beating: Promise<void> = Promise.resolve();
  #isDraining = false;

  constructor(table: Table<ToolhostPresence>, options: PresenceOptions) {
    this.#table = table;
    this.#options = options;
  }

  /** Resolves when others can know of this host. */
  async begin(signal: AbortSignal): Promise<void> {
    await this.#say(signal);
    this.#beating = this.#beat(this.#end.signal);
  }

  /** Says at once that no more calls are to be sent here. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await this.#sayIfPossible(this.#end.signal);
  }

  async #beat(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await wait(beatMs, undefined, { signal }).catch(() => undefined);
      if (!signal.aborted) await this.#sayIfPossible(signal);
    }
  }

  async #sayIfPossible(signal: AbortSignal): Promise<void> {
    try {
      await this.#say(signal);
    } catch (error) {
      if (!signal.aborted) this.#options.log.warn({ err: error }, "presence could not be written");
    }
  }

  async #say(signal: AbortSignal): Promise<void> {
    const { host, pool, slots } = this.#options;
    const said = {
      host,
      pool,
      slots: slots.capacity.permits,
      busy: slots.busy,
      since: this.#since,
    };
    const row = create(ToolhostPresenceSchema, { ...said, draining: this.#isDraining });
    await this.#table.put(host, row, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort(new DOMException("the toolhost ends", "AbortError"));
    await this.#beating;
    const signal = AbortSignal.timeout(farewellMs);
    // A row that cannot be taken away is gone by itself.
    await this.#table.delete(this.#options.host, signal).catch(() => undefined);
  }
}
