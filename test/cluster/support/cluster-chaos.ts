import { issueCredentials } from "@reeve/jetstream/access/server-users";
import { provisionBuckets } from "@reeve/jetstream/streams/provision-buckets";
import { provisionStreams } from "@reeve/jetstream/streams/provision-streams";
import type { ChaosOptions } from "../../chaos/support/chaos.ts";
import { chaos } from "../../chaos/support/chaos.ts";
import { processFaultNames } from "../../chaos/support/faults.ts";
import type { ChaosReport } from "../../chaos/report/report.ts";
import { NatsCluster } from "../../support/nats-cluster.ts";
import { serviceUsers } from "../../support/service-users.ts";
import { canTraceDisks } from "../../support/traced-disk.ts";
import { Routes } from "./routes.ts";
import { StoreClock } from "./store-clock.ts";
import { storeFaultsOf } from "./store-faults.ts";

const never = new AbortController().signal;

export interface ClusterChaosOptions extends ChaosOptions {
  /** Whether servers lose power, if that can be done on this machine, and are replaced: faults that take long. Absent: they do. */
  readonly hasLongFaults?: boolean;
  /** Whether servers write to disk before they acknowledge. Absent: they do. Otherwise, a loss of power breaks guarantees. */
  readonly syncAlways?: boolean;
}

/**
 * Executes runs that act on the world over three NATS servers that keep three replicas of every stream, while faults are
 * injected into the servers, their routes, and the processes. Reports the violations.
 */
export async function clusterChaos(options: ClusterChaosOptions): Promise<ChaosReport> {
  const { hasLongFaults = true, syncAlways = true } = options;
  const losePower = hasLongFaults && canTraceDisks;
  await using routes = new Routes();
  const credentials = issueCredentials();
  await using servers = await NatsCluster.start({
    credentials: { user: credentials.operator.user, password: credentials.operator.pass },
    users: serviceUsers(credentials),
    syncAlways,
    losesPower: losePower,
    routeVia: (from, to) => routes.via(from, to),
  });
  const nats = await servers.connect();
  const streams = [
    ...(await provisionStreams(
      nats,
      { pools: ["default"], ackWaitMs: 15_000, replicas: 3 },
      never,
    )),
    ...(await provisionBuckets(nats, never)),
  ];
  for (const stream of streams) await servers.whole(stream);
  await using clock = new StoreClock(await servers.connectAll());
  const faults = storeFaultsOf(servers, routes, { losePower, replace: hasLongFaults });
  return await chaos({
    ...options,
    only: options.only ?? [...processFaultNames, ...faults.map(([name]) => name)],
    store: {
      servers: servers.servers.map(({ url, clientPort }) => ({ url, port: clientPort })),
      credentials,
      faults,
      now: clock.now,
    },
  });
}
