import { rmSync } from "node:fs";
import { join } from "node:path";
import type { ServiceName } from "@reeve/jetstream/access/permissions";
import { serviceNames } from "@reeve/jetstream/access/permissions";
import {
  issueCredentials,
  operator,
  writeSecretFile,
  writeServerUsers,
} from "@reeve/jetstream/access/server-users";
import type { Credentials } from "@reeve/jetstream/access/server-users";
import type { AuditLimits } from "@reeve/jetstream/audit/set-limits";
import { setAuditLimits } from "@reeve/jetstream/audit/set-limits";
import { shareLiveBatches } from "@reeve/jetstream/log/live-hub";
import { provisionBuckets } from "@reeve/jetstream/streams/provision-buckets";
import { provisionStreams } from "@reeve/jetstream/streams/provision-streams";
import type { Nats } from "@reeve/platform/nats/connect-nats";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import type { Logger } from "@reeve/platform/telemetry/logger";

/** The NATS server of an embedded deployment, and a connection of each service. Disposing it ends both. */
export interface Bus extends AsyncDisposable {
  readonly url: string;
  readonly services: Readonly<Record<ServiceName, Nats>>;
}

interface BusOptions {
  /** Undefined: any free port. */
  readonly natsPort: number | undefined;
  /** Returns the URL through which the services reach the server at a URL, such as that of a proxy. Undefined: they connect to it. */
  readonly through?: ((url: string) => Promise<string>) | undefined;
  readonly ackWaitMs: number;
  /** How much of the audit trail is kept. */
  readonly audit: AuditLimits;
  /** Over how many streams the logs of runs are spread. */
  readonly runShards: number;
  readonly log: Logger;
}

/**
 * Starts a NATS server with new credentials, creates what the services store, and connects each service as its own user. While
 * the server runs, `nats.env` in the data folder has the credentials of the operator.
 */
export async function startBus(
  dataDir: string,
  { natsPort, through, ackWaitMs, audit, runShards, log }: BusOptions,
  signal: AbortSignal,
): Promise<Bus> {
  await using starting = new AsyncDisposableStack();
  const credentials = issueCredentials();
  const configFile = join(dataDir, "nats.conf");
  writeServerUsers(configFile, credentials, runShards);
  starting.defer(() => rmSync(configFile, { force: true }));
  const { url } = starting.use(
    await startNatsServer(
      {
        storeDir: join(dataDir, "nats"),
        configFile,
        log,
        ...(natsPort !== undefined && { port: natsPort }),
      },
      signal,
    ),
  );
  const operatorFile = join(dataDir, "nats.env");
  writeSecretFile(operatorFile, environmentOf(url, credentials[operator]));
  starting.defer(() => rmSync(operatorFile, { force: true }));
  const connect = (name: ServiceName | typeof operator, to: string) =>
    connectNats(to, { name, log, ...credentials[name] }, signal);
  {
    await using nats = await connect(operator, url);
    await provisionStreams(nats, { pools: ["default"], ackWaitMs, runShards }, signal);
    await provisionBuckets(nats, signal);
    await setAuditLimits(nats, audit);
  }
  const servicesUrl = (await through?.(url)) ?? url;
  const connected = new Map<ServiceName, Nats>();
  for (const name of serviceNames) {
    connected.set(name, starting.use(await connect(name, servicesUrl)));
  }
  // Nobody else writes logs to this server.
  shareLiveBatches([...connected.values()].map(({ connection }) => connection));
  const services = Object.fromEntries(connected) as Bus["services"];
  const resources = starting.move();
  return { url, services, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

/** Returns the settings of commands that connect to NATS, such as `reeve rebuild`, as lines for a shell. */
function environmentOf(url: string, { user, pass }: Credentials): string {
  return `REEVE_NATS_URL=${url}\nREEVE_NATS_USER=${user}\nREEVE_NATS_PASSWORD=${pass}\n`;
}
