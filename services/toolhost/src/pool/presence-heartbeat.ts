import { create } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import type { ToolhostPresence } from "@reeve/contracts/toolhost";
import { ToolhostPresenceSchema } from "@reeve/contracts/toolhost";
import { sleep } from "@reeve/platform/async/sleep";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { Table } from "@reeve/jetstream/table/port";
import type { Slots } from "@reeve/calls/queue/slots";

/** Interval between two writes of a presence. */
export const heartbeatMs = 2_000;
/** Time limit for removing the presence when the host ends. */
const removeTimeoutMs = 2_000;

export interface PresenceOptions {
  readonly host: string;
  readonly pool: string;
  readonly slots: Slots;
  /** Returns what operators see of the host. Default: nothing but its slots. */
  readonly reported?: (() => ReportedState) | undefined;
  readonly log: Logger;
}

/** What a host reports beside its slots. */
type ReportedState = Readonly<
  Pick<ToolhostPresence, "isolation" | "warmSandboxes" | "spareSandboxes" | "workspaces">
>;

/** How many calls a row names. */
const maxCalls = 50;

/** The presence of this host, which peers read: written every two seconds after `begin`, and removed when it is disposed. */
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

  /** Resolves when peers can know this host. */
  async begin(signal: AbortSignal): Promise<void> {
    await this.#write(signal);
    this.#beating = this.#beat(this.#end.signal);
  }

  /** Announces at once that no more calls may be forwarded to this host. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await this.#tryWrite(this.#end.signal);
  }

  async #beat(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(heartbeatMs, signal).catch(() => undefined);
      if (!signal.aborted) await this.#tryWrite(signal);
    }
  }

  async #tryWrite(signal: AbortSignal): Promise<void> {
    try {
      await this.#write(signal);
    } catch (error) {
      if (!signal.aborted)
        this.#options.log.warn({ err: error }, "presence was not written; trying again");
    }
  }

  async #write(signal: AbortSignal): Promise<void> {
    const { host, pool, slots, reported } = this.#options;
    const calls = slots.calls
      .slice(0, maxCalls)
      .map(({ tenant, run, call }) => ({ tenant, runId: run, callId: call }));
    const said = {
      ...reported?.(),
      calls,
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
    const signal = AbortSignal.timeout(removeTimeoutMs);
    // A row that is not removed expires.
    await this.#table.delete(this.#options.host, signal).catch(() => undefined);
  }
}
