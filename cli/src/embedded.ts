import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { startApprovals } from "@reeve/approvals/serve";
import { startGateway } from "@reeve/gateway/serve";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { connectNats } from "@reeve/platform/nats/connect-nats";
import { startNatsServer } from "@reeve/platform/nats/nats-server";
import { startTracing } from "@reeve/platform/telemetry/start-tracing";
import { startRuntime } from "@reeve/runtime/serve";
import { startToolhost } from "@reeve/toolhost/serve";
import { openDataDir } from "./data-dir.ts";
import type { EmbeddedSettings } from "./embedded-settings.ts";
import { serviceConfigs } from "./embedded-settings.ts";
import type { Offer } from "./read-offer.ts";
import { readOffer } from "./read-offer.ts";

export interface EmbeddedOptions {
  /** Where the gateway listens: `host:port`; port 0 is any free one. */
  readonly listen: string;
  /** Folder that holds everything; made when it is missing. */
  readonly dataDir: string;
  /** Port of the NATS server on loopback. Absent: any free one. */
  readonly natsPort?: number;
  readonly settings: EmbeddedSettings;
  readonly log: Logger;
}

/** A whole Reeve in this process, with a NATS server beside it, until it is disposed. */
export interface Embedded extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  readonly dataDir: string;
  /** What its runs have to work with. */
  readonly offer: Offer;
}

/**
 * Starts a NATS server and the four services in this process. Throws a Failure, with nothing left running, when the data
 * folder is in use, a port is taken, nats-server is missing or a setting is wrong.
 */
export async function startEmbedded(
  { listen, dataDir, natsPort, settings, log }: EmbeddedOptions,
  signal: AbortSignal,
): Promise<Embedded> {
  await using starting = new AsyncDisposableStack();
  const folder = starting.use(openDataDir(dataDir));
  const server = starting.use(
    await startNatsServer(
      {
        storeDir: join(folder.path, "nats"),
        log,
        ...(natsPort !== undefined && { port: natsPort }),
      },
      signal,
    ),
  );
  const nats = starting.use(await connectNats(server.url, { name: "embedded", log }, signal));
  const configs = serviceConfigs(settings, {
    natsUrl: server.url,
    listen,
    dataDir: folder.path,
    token: folder.token,
    internalToken: randomBytes(24).toString("hex"),
  });
  starting.use(await startTracing("reeve", configs.runtime, log));
  const ports = (service: string) => ({ nats, log: log.child({ service }) });
  // Tools and models are announced before anybody can ask for them.
  starting.use(
    await startToolhost(configs.toolhost, { ...ports("toolhost"), environment: settings }, signal),
  );
  starting.use(await startRuntime(configs.runtime, ports("runtime"), signal));
  const approvals = starting.use(
    await startApprovals(configs.approvals, ports("approvals"), signal),
  );
  const gateway = starting.use(
    await startGateway(configs.gateway(approvals.url), ports("gateway"), signal),
  );
  const offer = await readOffer(nats, signal);
  const resources = starting.move();
  return {
    url: gateway.url,
    token: folder.token,
    dataDir: folder.path,
    offer,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
