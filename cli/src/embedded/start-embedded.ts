import { randomBytes } from "node:crypto";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import type { ServiceName } from "@reeve/jetstream/access/permissions";
import { startApprovals } from "@reeve/approvals/serve";
import { startGateway } from "@reeve/gateway/serve";
import type { Environment } from "@reeve/platform/config";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { createLogger } from "@reeve/platform/telemetry/logger";
import { startTracing } from "@reeve/platform/telemetry/start-tracing";
import { startRuntime } from "@reeve/runtime/serve";
import type { RunningToolhost } from "@reeve/toolhost/serve";
import { startToolhost } from "@reeve/toolhost/serve";
import { assertCanListen } from "./assert-can-listen.ts";
import { openDataDir } from "./data-dir.ts";
import { startBus } from "./start-bus.ts";
import { urlFile } from "../server-address.ts";
import type { Capabilities } from "./read-capabilities.ts";
import { readCapabilities } from "./read-capabilities.ts";
import { serviceConfigs } from "./service-configs.ts";

export interface EmbeddedOptions {
  /** Listen address of the gateway: `host:port`. Port 0 means any free port. */
  readonly listen: string;
  /** Folder for all data. Created if it does not exist. */
  readonly dataDir: string;
  /** Port of the NATS server on loopback. Default: any free port. */
  readonly natsPort?: number;
  /** Returns the URL through which the services reach the NATS server at a URL, such as that of a proxy. Default: they connect to it. */
  readonly through?: (url: string) => Promise<string>;
  /** Environment variables of the services. */
  readonly settings: Environment;
  readonly log: Logger;
}

/** A complete Reeve: all services in this process, and a NATS server. Disposing it stops everything. */
export interface Embedded extends AsyncDisposable, Pick<RunningToolhost, "sources" | "offersAll"> {
  readonly url: string;
  readonly token: string;
  readonly dataDir: string;
  readonly capabilities: Capabilities;
  /** How many runs the runtime drives now. Runs that wait for a person or a timer do not count. */
  readonly activeRuns: () => number;
}

/**
 * Starts a NATS server, and the four services in this process. Throws a Failure, and leaves nothing running, if the data
 * folder is in use, a port is taken, nats-server is not installed, or a setting is invalid.
 */
export async function startEmbedded(
  { listen, dataDir, natsPort, through, settings, log }: EmbeddedOptions,
  signal: AbortSignal,
): Promise<Embedded> {
  await using starting = new AsyncDisposableStack();
  // A folder that exists may belong to a server that listens there, which its lock says better.
  if (!existsSync(dataDir)) await assertCanListen(listen, log);
  const folder = starting.use(openDataDir(dataDir));
  const configs = serviceConfigs(settings, {
    listen,
    dataDir: folder.path,
    token: folder.token,
    internalToken: randomBytes(24).toString("hex"),
    receiptKeyFile: folder.receiptKeyFile,
  });
  const { REEVE_ACK_WAIT_MS: ackWaitMs } = configs.runtime;
  const { audit, runShards } = configs;
  const options = { natsPort, through, ackWaitMs, audit, runShards, log };
  const bus = starting.use(await startBus(folder.path, options, signal));
  starting.use(await startTracing("reeve", configs.runtime, log));
  // Not a child of `log`, which would have two fields `service`.
  const ports = (service: ServiceName) => ({
    nats: bus.services[service],
    log: createLogger(service, log.level),
  });
  // The gateway starts last, so that built-in tools and models are announced before the first request.
  const toolhost = starting.use(
    await startToolhost(configs.toolhost, { ...ports("toolhost"), environment: settings }, signal),
  );
  let activeRuns = 0;
  const onActiveRuns = (count: number) => void (activeRuns = count);
  starting.use(
    await startRuntime(
      configs.runtime,
      {
        ...ports("runtime"),
        environment: settings,
        onActiveRuns,
        localCalls: toolhost.localCalls,
      },
      signal,
    ),
  );
  const approvals = starting.use(
    await startApprovals(
      configs.approvals,
      { ...ports("approvals"), environment: settings },
      signal,
    ),
  );
  const gateway = starting.use(
    await startGateway(
      configs.gateway(approvals.url),
      { ...ports("gateway"), environment: settings, isOnlyGateway: true },
      signal,
    ),
  );
  const capabilities = await readCapabilities(bus.services.gateway, signal);
  const address = urlFile(folder.path);
  writeFileSync(address, `${gateway.url}\n`);
  starting.defer(() => rmSync(address, { force: true }));
  const resources = starting.move();
  return {
    url: gateway.url,
    token: folder.token,
    dataDir: folder.path,
    capabilities,
    sources: toolhost.sources,
    offersAll: toolhost.offersAll,
    activeRuns: () => activeRuns,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
