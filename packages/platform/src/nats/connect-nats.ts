import { isIP } from "node:net";
import type { NatsConnection, TlsOptions } from "@nats-io/transport-node";
import { ErrorReason } from "@reeve/contracts/error";
import { neverAborts } from "../async/never-aborts.ts";
import { retry } from "../async/retry/retry.ts";
import { settledWithin } from "../async/settled-within.ts";
import { Failure } from "../failure.ts";
import { connectBatching } from "./batching-transport.ts";
import { connectionStateOf } from "./connection-state.ts";
import type { ServerAddress } from "./explain-tls.ts";
import { inboxPrefixes } from "./inbox.ts";
import { authenticatorOf } from "./nats-creds.ts";
import type { NatsTls } from "./nats-tls.ts";
import { needsTls, readTlsFiles } from "./nats-tls.ts";
import type { Logger } from "../telemetry/logger.ts";
import { steadyReconnects } from "./steady-reconnects.ts";
import { reportStoreSteps } from "./store-steps.ts";
import { TlsReport } from "./tls-report.ts";

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
  /** A file with the JWT and the seed of a user. Takes the place of `user` and `pass`. */
  readonly credsFile?: string | undefined;
  /** With `tls://` in the URL or a file here, the connection never goes without TLS. */
  readonly tls?: NatsTls;
}

/** Returns the NATS credentials and the files for TLS from the settings of a service. */
export function credentialsOf(config: {
  readonly REEVE_NATS_USER?: string | undefined;
  readonly REEVE_NATS_PASSWORD?: string | undefined;
  readonly REEVE_NATS_CREDS_FILE?: string | undefined;
  readonly REEVE_NATS_CA_FILE?: string | undefined;
  readonly REEVE_NATS_CERT_FILE?: string | undefined;
  readonly REEVE_NATS_KEY_FILE?: string | undefined;
}): Pick<NatsOptions, "user" | "pass" | "credsFile" | "tls"> {
  const tls = {
    caFile: config.REEVE_NATS_CA_FILE,
    certFile: config.REEVE_NATS_CERT_FILE,
    keyFile: config.REEVE_NATS_KEY_FILE,
  };
  return {
    user: config.REEVE_NATS_USER,
    pass: config.REEVE_NATS_PASSWORD,
    credsFile: config.REEVE_NATS_CREDS_FILE,
    tls,
  };
}

const defaultPort = 4222;
const backoff = { firstDelayMs: 100, maxDelayMs: 1_000, jitter: 0.5 };
const openToAll =
  "NATS requires no credentials: everyone who reaches it can read and change everything; give each service its own user, see docs/deploy.md";
/** The time that a drain has before the connection is closed. */
const drainMs = 2_000;

/**
 * Connects to a NATS server, or to one of several whose URLs are given with commas between them. Retries the first connection
 * with a doubling delay, and reconnects forever after that. Rejects only when `signal` aborts, or with a Failure when a file for
 * TLS or of credentials cannot be used.
 */
export async function connectNats(
  url: string,
  options: NatsOptions,
  signal: AbortSignal,
): Promise<Nats> {
  const { log, tls = {} } = options;
  readTlsFiles(tls);
  const servers = url.split(",").map(addressOf);
  const isSecured = needsTls(url, tls);
  if (isSecured) servers.forEach(assertNamed);
  const end = new AbortController();
  const report = isSecured ? new TlsReport(servers, tls, log) : undefined;
  const connection = await firstConnection(url, options, report, signal);
  void logStates(connection, { log, report }, end.signal);
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
  { name, log, user, pass, credsFile, tls }: NatsOptions,
  report: TlsReport | undefined,
  signal: AbortSignal,
): Promise<NatsConnection> {
  const options = {
    name,
    // An object, even an empty one, makes the client refuse a server without TLS.
    ...(report !== undefined && { tls: contentsOf(tls ?? {}) }),
    inboxPrefix: inboxPrefixes(name).store,
    ...(credsFile === undefined
      ? { ...(user !== undefined && { user }), ...(pass !== undefined && { pass }) }
      : { authenticator: authenticatorOf(credsFile) }),
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
    () => connectBatching(options),
    {
      backoff,
      isRetryable: () => true,
      onRetry(error, { attempt }) {
        if (attempt === 1) log.warn({ url, err: error }, "NATS does not answer; retrying");
        report?.failed(signal);
      },
    },
    signal,
  );
  report?.succeeded();
  // The client has forgotten the servers that did not answer.
  const known = connection.getServers().map(({ listen }) => listen);
  const forgotten = options.servers.filter((each) => !known.includes(listenOf(each)));
  if (forgotten.length > 0) connection.setServers([...known, ...forgotten]);
  return connection;
}

/** Throws a Failure for an IP address: without a name, the certificate would be checked against `localhost`. */
function assertNamed({ host }: ServerAddress): void {
  if (isIP(host) === 0) return;
  throw new Failure(
    "invalid",
    ErrorReason.INVALID_REQUEST,
    `the URL of NATS has the address ${host}, but TLS checks the name of a server; use the name in its certificate`,
  );
}

/** Returns options with the contents of the files. The client reads them for each connection. */
function contentsOf(tls: NatsTls): TlsOptions {
  const options: TlsOptions = {};
  const files = { ca: tls.caFile, cert: tls.certFile, key: tls.keyFile };
  for (const name of ["ca", "cert", "key"] as const) {
    const get = () => String(readTlsFiles(tls)[name]);
    if (files[name] !== undefined) Object.defineProperty(options, name, { get, enumerable: true });
  }
  return options;
}

/** Returns host and port of a URL. */
function addressOf(url: string): ServerAddress {
  const listen = listenOf(url);
  const end = listen.lastIndexOf(":");
  return {
    host: listen.slice(0, end).replace(/^\[|\]$/g, ""),
    port: Number(listen.slice(end + 1)),
  };
}

/** Returns host and port of a URL, as the client writes them. */
function listenOf(url: string): string {
  const address = url.replace(/^\w+:\/\//, "");
  return /:\d+$/.test(address) ? address : `${address}:${defaultPort}`;
}

async function logStates(
  connection: NatsConnection,
  { log, report }: { readonly log: Logger; readonly report: TlsReport | undefined },
  signal: AbortSignal,
): Promise<void> {
  let attempts = 0;
  for await (const status of connection.status()) {
    if (signal.aborted) return;
    if (status.type === "disconnect") {
      log.warn("NATS connection lost; reconnecting");
    } else if (status.type === "reconnecting") {
      // Another attempt: the one before it has failed.
      if (attempts > 0) report?.failed(signal);
      attempts++;
    } else if (status.type === "reconnect") {
      attempts = 0;
      report?.succeeded();
      log.info("NATS reconnected");
    } else if (status.type === "error") log.warn({ err: status.error }, "NATS reported an error");
  }
}
