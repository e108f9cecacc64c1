import type { NatsConnection } from "@nats-io/transport-node";
import { connect } from "@nats-io/transport-node";
import { neverAborts } from "../async/never-aborts.ts";
import { retry } from "../async/retry/retry.ts";
import { settledWithin } from "../async/settled-within.ts";
import { connectionStateOf } from "./connection-state.ts";
import { inboxPrefixes } from "./inbox.ts";
import type { Logger } from "../telemetry/logger.ts";
import { steadyReconnects } from "./steady-reconnects.ts";
import { reportStoreSteps } from "./store-steps.ts";

/** A connection to NATS. Disposing it drains and closes it, within two seconds. */
export interface Nats extends AsyncDisposable {
  readonly connection: NatsConnection;
}

export interface NatsOptions {
  /**
   * The name of this client in the server's monitoring. Replies arrive at `_INBOX.<name>.>` and `_REPLY.<name>.>`: the permissions
   * of a service cover only the subjects below its own name.
   */
  readonly name: string;
  readonly log: Logger;
  readonly user?: string | undefined;
  readonly pass?: string | undefined;
}

/** Returns the NATS credentials from the settings of a service. */
export function credentialsOf(config: {
  readonly REEVE_NATS_USER?: string | undefined;
  readonly REEVE_NATS_PASSWORD?: string | undefined;
}): Pick<NatsOptions, "user" | "pass"> {
  return { user: config.REEVE_NATS_USER, pass: config.REEVE_NATS_PASSWORD };
}

const backoff = { firstDelayMs: 100, maxDelayMs: 1_000, jitter: 0.5 };
const openToAll =
  "NATS requires no credentials: everyone who reaches it can read and change everything; give each service its own user, see docs/deploy.md";
/** The time that a drain has before the connection is closed. */
const drainMs = 2_000;

/**
 * Connects to a NATS server, or to one of several whose URLs are given with commas between them. Retries the first connection with a doubling delay, and reconnects forever after that. Rejects only when
 * `signal` aborts.
 */
export async function connectNats(
  url: string,
  { name, log, ...credentials }: NatsOptions,
  signal: AbortSignal,
): Promise<Nats> {
  const end = new AbortController();
  const connection = await firstConnection(url, { name, ...credentials }, log, signal);
  void logStates(connection, log, end.signal);
  // Tracked from the start: a state that is created later would miss earlier changes.
  connectionStateOf(connection);
  reportStoreSteps(connection, log);
  if (connection.info?.auth_required !== true) log.warn({ url }, openToAll);
  return {
    connection,
    async [Symbol.asyncDispose]() {
      end.abort();
      // A drain that cannot reach its server must not delay the end of the process.
      await settledWithin(connection.drain(), drainMs, neverAborts).catch(() => undefined);
      await settledWithin(connection.close(), drainMs, neverAborts).catch(() => undefined);
    },
  };
}

async function firstConnection(
  url: string,
  { name, user, pass }: Omit<NatsOptions, "log">,
  log: Logger,
  signal: AbortSignal,
): Promise<NatsConnection> {
  const options = {
    name,
    inboxPrefix: inboxPrefixes(name).store,
    ...(user !== undefined && { user }),
    ...(pass !== undefined && { pass }),
    servers: url.split(","),
    ...steadyReconnects(),
    pingInterval: 5_000,
    maxPingOut: 2,
    timeout: 5_000,
    ignoreAuthErrorAbort: true,
    // Otherwise the client captures two stacks for every request. Our Failures name the request instead.
    noAsyncTraces: true,
  };
  const connection = await retry(
    () => connect(options),
    {
      backoff,
      isRetryable: () => true,
      onRetry(error, { attempt }) {
        if (attempt === 1) log.warn({ url, err: error }, "NATS does not answer; retrying");
      },
    },
    signal,
  );
  // The client has forgotten the servers that did not answer.
  const known = connection.getServers().map(({ listen }) => listen);
  const forgotten = options.servers.filter((each) => !known.includes(addressOf(each)));
  if (forgotten.length > 0) connection.setServers([...known, ...forgotten]);
  return connection;
}

/** Returns host and port of a URL. */
function addressOf(url: string): string {
  const address = url.replace(/^\w+:\/\//, "");
  return /:\d+$/.test(address) ? address : `${address}:4222`;
}

async function logStates(
  connection: NatsConnection,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  for await (const status of connection.status()) {
    if (signal.aborted) return;
    if (status.type === "disconnect") log.warn("NATS connection lost; reconnecting");
    else if (status.type === "reconnect") log.info("NATS reconnected");
    else if (status.type === "error") log.warn({ err: status.error }, "NATS reported an error");
  }
}
