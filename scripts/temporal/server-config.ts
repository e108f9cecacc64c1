import { stringify } from "yaml";

/** The ports of a server of Temporal. */
export const portNames = [
  "frontend",
  "frontendMembership",
  "frontendHttp",
  "matching",
  "matchingMembership",
  "history",
  "historyMembership",
  "worker",
  "workerMembership",
] as const;

export type ServerPorts = Readonly<Record<(typeof portNames)[number], number>>;

export interface ServerFiles {
  /** The database, which is created if it does not exist. */
  readonly database: string;
  /** The file with the limits, see `limitsFile`. */
  readonly limits: string;
}

/** Returns the configuration of a server in one process, with its data in one file. It listens on loopback. */
export function serverConfig(ports: ServerPorts, { database, limits }: ServerFiles): string {
  const store = {
    sql: {
      pluginName: "sqlite",
      databaseName: database,
      connectAddr: "localhost",
      connectProtocol: "tcp",
      connectAttributes: { cache: "private", setup: true, journal_mode: "wal", synchronous: 2 },
      maxConns: 1,
      maxIdleConns: 1,
      maxConnLifetime: "1h",
    },
  };
  const service = (name: "matching" | "history" | "worker") => ({
    rpc: {
      grpcPort: ports[name],
      membershipPort: ports[`${name}Membership`],
      bindOnLocalHost: true,
    },
  });
  const address = `localhost:${ports.frontend}`;
  return stringify({
    log: { stdout: true, level: "warn" },
    persistence: {
      defaultStore: "default",
      visibilityStore: "default",
      numHistoryShards: 1,
      datastores: { default: store },
    },
    global: { membership: { maxJoinDuration: "30s", broadcastAddress: "127.0.0.1" } },
    services: {
      frontend: {
        rpc: {
          grpcPort: ports.frontend,
          membershipPort: ports.frontendMembership,
          httpPort: ports.frontendHttp,
          bindOnLocalHost: true,
        },
      },
      matching: service("matching"),
      history: service("history"),
      worker: service("worker"),
    },
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: "active",
      currentClusterName: "active",
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: "frontend",
          rpcAddress: address,
        },
      },
    },
    dcRedirectionPolicy: { policy: "noop" },
    dynamicConfigClient: { filepath: limits, pollInterval: "10s" },
  });
}

/** Returns the limits of a server. `historyEvents`: the length of a history at which workflows continue as new ones. Default: 4096. */
export function limitsFile(historyEvents = 4_096): string {
  return stringify({
    "limit.historyCount.suggestContinueAsNew": [{ value: historyEvents }],
    "system.forceSearchAttributesCacheRefreshOnRead": [{ value: true }],
  });
}
