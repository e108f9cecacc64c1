import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { NetworkUse } from "../port.ts";

/** Maximum number of open connections of a call. */
const maxOpen = 32;
/** Maximum number of connections of a call, open and closed. */
const maxConnections = 1_000;
const idleTimeoutMs = 120_000;

/** Destination of a connection. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** Limits the network traffic of one call, logs one line for each connection, and ends all connections with the call. */
export class CallTraffic implements Disposable {
  #use: NetworkUse;
  readonly #maxBytes: number;
  readonly #log: Pick<Logger, "info">;
  readonly #open = new Set<Connection>();
  readonly #end = new AbortController();
  #count = 0;
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

  /**
   * Registers a connection. `target` is undefined if the request has no valid one. The first connection beyond the maximum
   * number is registered too, so that its refusal is logged. Returns undefined for all after it, so that the log cannot be
   * flooded.
   */
  open(target: Target | undefined): Connection | undefined {
    this.#count++;
    if (this.#count > maxConnections + 1) return undefined;
    const connection = new Connection(target, {
      onBytes: (bytes) => this.#addBytes(bytes),
      onEnd: (record) => {
        this.#open.delete(connection);
        const { runId, callId } = this.#use;
        this.#log.info({ runId, callId, ...record }, "sandbox connection");
      },
    });
    this.#open.add(connection);
    return connection;
  }

  /**
   * Counts connections anew, for another call of the same run that continues with them. Bytes and open connections count for all calls
   * together.
   */
  renew(use: NetworkUse): void {
    this.#use = use;
    this.#count = 0;
  }

  /** Returns why the call may open no further connection, whatever its target; undefined if it may. */
  refusal(): string | undefined {
    if (this.#bytes > this.#maxBytes) {
      return `this call has exceeded its limit of ${this.#maxBytes} bytes`;
    }
    if (this.#count > maxConnections) {
      return `this call has exceeded its limit of ${maxConnections} connections; further ones are not logged`;
    }
    return this.#open.size > maxOpen
      ? `this call has exceeded its limit of ${maxOpen} open connections`
      : undefined;
  }

  [Symbol.dispose](): void {
    this.#end.abort(new DOMException("the call is over", "AbortError"));
    for (const connection of this.#open) connection.end("the call is over");
  }

  #addBytes(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#maxBytes) return;
    for (const connection of this.#open) connection.end("too many bytes");
  }
}

interface ConnectionObserver {
  onBytes(bytes: number): void;
  onEnd(record: Readonly<Record<string, unknown>>): void;
}

/** One connection of a call, from its request to its log line. */
export class Connection {
  readonly #target: Target | undefined;
  readonly #observer: ConnectionObserver;
  readonly #began = performance.now();
  readonly #ends: Duplex[] = [];
  #sent = 0;
  #received = 0;
  #credentials: readonly string[] | undefined;
  #isClosed = false;

  constructor(target: Target | undefined, observer: ConnectionObserver) {
    this.#target = target;
    this.#observer = observer;
  }

  /** Records the names of the credentials that its requests have. */
  useCredentials(names: readonly string[]): void {
    this.#credentials = names;
  }

  /** Counts bytes that the call sends or receives. */
  count(direction: "sent" | "received", bytes: number): void {
    if (direction === "sent") this.#sent += bytes;
    else this.#received += bytes;
    this.#observer.onBytes(bytes);
  }

  /** Ties streams to the connection: they are destroyed when it ends, and it ends if they break or are idle for too long. */
  attach(...ends: readonly Duplex[]): void {
    for (const each of ends) {
      this.#ends.push(each);
      each.on("error", () => this.end("broken off"));
      if (each instanceof Socket) each.setTimeout(idleTimeoutMs, () => this.end("idle timeout"));
      if (this.#isClosed) each.destroy();
    }
  }

  /** Records that the connection was refused, or that the target did not answer. */
  fail(outcome: "refused" | "failed", reason: string): void {
    this.#close(outcome, reason);
  }

  /** Ends the connection and destroys its streams. */
  end(reason: string): void {
    this.#close("allowed", reason);
    for (const each of this.#ends) each.destroy();
  }

  #close(outcome: "allowed" | "refused" | "failed", reason: string): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#observer.onEnd({
      ...this.#target,
      ...(this.#credentials && { credentials: this.#credentials }),
      outcome,
      reason,
      sentBytes: this.#sent,
      receivedBytes: this.#received,
      durationMs: Math.round(performance.now() - this.#began),
    });
  }
}
