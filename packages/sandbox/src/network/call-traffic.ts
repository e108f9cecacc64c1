import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { NetworkUse } from "../port.ts";

/** Connections of a call at a time, and altogether. */
const maxAtOnce = 32;
const maxConnections = 1_000;
/** How long a connection may be silent. */
const silentMs = 120_000;

/** Where a connection was to go; undefined: nowhere that can be named. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** What one call moves over the network: bounded, logged by connection, and over when the call is. */
export class CallTraffic implements Disposable {
  readonly #use: NetworkUse;
  readonly #maxBytes: number;
  readonly #log: Pick<Logger, "info">;
  readonly #open = new Set<Connection>();
  readonly #end = new AbortController();
  #begun = 0;
  #bytes = 0;

  constructor(use: NetworkUse, maxBytes: number, log: Pick<Logger, "info">) {
    this.#use = use;
    this.#maxBytes = maxBytes;
    this.#log = log;
  }

  /** Aborts when the call is over. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** A new connection, or undefined when there are so many that no more is said of any. */
  open(target: Target | undefined): Connection | undefined {
    this.#begun++;
    if (this.#begun > maxConnections + 1) return undefined;
    const connection = new Connection(target, {
      moved: (bytes) => this.#moved(bytes),
      over: (record) => {
        this.#open.delete(connection);
        const { runId, callId } = this.#use;
        this.#log.info({ runId, callId, ...record }, "sandbox connection");
      },
    });
    this.#open.add(connection);
    return connection;
  }

  /** Why a connection may not be made, whatever its target. */
  refusal(): string | undefined {
    if (this.#bytes > this.#maxBytes) {
      return `this call has moved more than the ${this.#maxBytes} bytes that it may`;
    }
    if (this.#begun > maxConnections) {
      return `this call has made more than ${maxConnections} connections; nothing more is said of further ones`;
    }
    return this.#open.size > maxAtOnce
      ? `this call has more than ${maxAtOnce} connections at a time`
      : undefined;
  }

  [Symbol.dispose](): void {
    this.#end.abort(new DOMException("the call is over", "AbortError"));
    for (const connection of this.#open) connection.end("the call is over");
  }

  #moved(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#maxBytes) return;
    for (const connection of this.#open) connection.end("too many bytes");
  }
}

interface Watcher {
  moved(bytes: number): void;
  over(record: Readonly<Record<string, unknown>>): void;
}

/** One connection of a call, from what was asked for to the one line that is logged of it. */
export class Connection {
  readonly #target: Target | undefined;
  readonly #watcher: Watcher;
  readonly #began = performance.now();
  readonly #ends: Duplex[] = [];
  #sent = 0;
  #received = 0;
  #isOver = false;

  constructor(target: Target | undefined, watcher: Watcher) {
    this.#target = target;
    this.#watcher = watcher;
  }

  /** What goes out, and what comes back. */
  count(direction: "sent" | "received", bytes: number): void {
    if (direction === "sent") this.#sent += bytes;
    else this.#received += bytes;
    this.#watcher.moved(bytes);
  }

  /** Streams that end with it at the latest, and with which it ends when they break or are silent. */
  attach(...ends: readonly Duplex[]): void {
    for (const each of ends) {
      this.#ends.push(each);
      each.on("error", () => this.end("broken off"));
      if (each instanceof Socket) each.setTimeout(silentMs, () => this.end("silent for too long"));
      if (this.#isOver) each.destroy();
    }
  }

  /** It is not made: it may not be, or nobody answers. */
  fail(outcome: "refused" | "failed", reason: string): void {
    this.#over(outcome, reason);
  }

  end(reason: string): void {
    this.#over("allowed", reason);
    for (const each of this.#ends) each.destroy();
  }

  #over(outcome: "allowed" | "refused" | "failed", reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#watcher.over({
      ...this.#target,
      outcome,
      reason,
      sentBytes: this.#sent,
      receivedBytes: this.#received,
      durationMs: Math.round(performance.now() - this.#began),
    });
  }
}
