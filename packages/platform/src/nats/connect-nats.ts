import { setTimeout as wait } from "node:timers/promises";
import type { NatsConnection } from "@nats-io/transport-node";
import { connect } from "@nats-io/transport-node";
import { connectionStateOf } from "./connection-state.ts";
import type { Logger } from "../telemetry/logger.ts";

/** A connection to NATS that ends with its owner. */
export interface Nats extends AsyncDisposable {
  readonly connection: NatsConnection;
}

export interface NatsOptions {
  /** Name of this client, for the server's monitoring. */
  readonly name: string;
  readonly log: Logger;
  readonly user?: string | undefined;
  readonly pass?: string | undefined;
}

/** What the settings of a service say about who it is. */
export function credentialsOf(config: {
  readonly REEVE_NATS_USER?: string | undefined;
  readonly REEVE_NATS_PASSWORD?: string | undefined;
}): Pick<NatsOptions, "user" | "pass"> {
  return { user: config.REEVE_NATS_USER, pass: config.REEVE_NATS_PASSWORD };
}

const firstDelayMs = 100;
const longestDelayMs = 5_000;

/**
 * Connects to NATS: waits for a server that is not there yet, with a back-off that doubles, and reconnects for ever once
 * it was. Rejects only when `signal` aborts.
 */
export async function connectNats(
  url: string,
  { name, log, ...credentials }: NatsOptions,
  signal: AbortSignal,
): Promise<Nats> {
  const end = new AbortController();
  const connection = await firstConnection(url, { name, ...credentials }, log, signal);
  void logStates(connection, log, end.signal);
  // Whoever asks later would have missed what happened since.
  connectionStateOf(connection);
  return {
    connection,
    async [Symbol.asyncDispose]() {
      end.abort();
      // A drain that cannot reach its server must not keep the process.
      const bounded = new AbortController();
      await Promise.race([
        connection.drain().catch(() => undefined),
        wait(2_000, undefined, { signal: bounded.signal }).catch(() => undefined),
      ]);
      bounded.abort();
      await connection.close().catch(() => undefined);
    },
  };
}

async function firstConnection(
  url: string,
  { name, user, pass }: Omit<NatsOptions, "log">,
  log: Logger,
  signal: AbortSignal,
): Promise<NatsConnection> {
  for (let delayMs = firstDelayMs; ; delayMs = Math.min(delayMs * 2, longestDelayMs)) {
    signal.throwIfAborted();
    try {
      return await connect({
        name,
        ...(user !== undefined && { user }),
        ...(pass !== undefined && { pass }),
        servers: url,
        maxReconnectAttempts: -1,
        reconnectTimeWait: 250,
        reconnectJitter: 250,
        pingInterval: 5_000,
        maxPingOut: 2,
        timeout: 5_000,
        ignoreAuthErrorAbort: true,
        // The client would take two stacks for every request, in case it fails; our failures name what was asked.
        noAsyncTraces: true,
      });
    } catch (error) {
      if (delayMs === firstDelayMs) {
        log.warn({ url, err: error }, "NATS does not answer; waiting for it");
      }
      await wait(delayMs, undefined, { signal });
    }
  }
}

async function logStates(
  connection: NatsConnection,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  for await (const status of connection.status()) {
    if (signal.aborted) return;
    if (status.type === "disconnect") log.warn("NATS is gone; waiting for it");
    else if (status.type === "reconnect") log.info("NATS is back");
    else if (status.type === "error") log.warn({ err: status.error }, "NATS reports a problem");
  }
}
