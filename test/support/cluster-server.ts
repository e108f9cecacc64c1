/** One server of a cluster. Its ports and its store stay the same when it restarts. */
export interface ClusterServer {
  /** `nats-1`, `nats-2` … */
  readonly name: string;
  readonly url: string;
  readonly clientPort: number;
  readonly routePort: number;
  readonly monitorPort: number;
  readonly storeDir: string;
}

export interface Credentials {
  readonly user: string;
  readonly password: string;
}

interface ServerSettings {
  /** The credentials that clients need. Undefined: none. */
  readonly credentials: Credentials | undefined;
  /** Further users of the account, with their permissions. */
  readonly users: readonly Credentials[];
  /** What all servers may store together for clients; every replica counts. Undefined: what the disks hold. */
  readonly maxStoreBytes: number | undefined;
  /** Whether the server writes to disk before it acknowledges. */
  readonly syncAlways: boolean;
  /** The ports of loopback over which it reaches the other servers. */
  readonly routes: readonly number[];
  /** Whether servers and clients must not learn its addresses, which bypass the links of a test. */
  readonly hidden: boolean;
}

/** The user of the system account, which may remove servers. */
export const systemUser: Credentials = { user: "system", password: "system" };
/** The user whose permissions clients without credentials have. */
const openUser: Credentials = { user: "open", password: "open" };

/** Returns the configuration of a server. */
export function configOf(
  { name, clientPort, routePort, monitorPort, storeDir }: ClusterServer,
  { credentials, users, maxStoreBytes, syncAlways, routes, hidden }: ServerSettings,
): object {
  const limits = maxStoreBytes === undefined ? "enabled" : { max_file: maxStoreBytes };
  return {
    server_name: name,
    listen: `127.0.0.1:${clientPort}`,
    http: `127.0.0.1:${monitorPort}`,
    jetstream: { store_dir: storeDir, ...(syncAlways && { sync_interval: "always" }) },
    accounts: {
      reeve: { jetstream: limits, users: [credentials ?? openUser, ...users] },
      system: { users: [systemUser] },
    },
    system_account: "system",
    ...(credentials === undefined && { no_auth_user: openUser.user }),
    cluster: {
      name: "reeve",
      listen: `127.0.0.1:${routePort}`,
      ...(hidden && { no_advertise: true, advertise: "127.0.0.1:9" }),
      routes: routes.map((port) => `nats-route://127.0.0.1:${port}`),
    },
  };
}
