/** The server to connect to, and the time limits of the client. */
export interface ClientOptions extends ServerOptions {
  /** Time limit of all attempts of a request together. Default: 10,000. */
  readonly requestTimeoutMs?: number;
  /** How long a request is repeated while no server can be reached. Default and maximum: `requestTimeoutMs`. */
  readonly retryTimeoutMs?: number;
  /** Time limit of an upload or a download. Default: 300,000. */
  readonly transferTimeoutMs?: number;
  /** How long a stream may be silent, without even a heartbeat, before its connection counts as lost. Default: 15,000. */
  readonly idleTimeoutMs?: number;
  /** How long a watch tries to reconnect without receiving anything before it gives up. Default: 30,000. */
  readonly reconnectTimeoutMs?: number;
}

/** The address of a server, and how to authenticate to it. */
export interface ServerOptions {
  /** `http://host:port` or `https://host:port`. */
  readonly address: string;
  /**
   * Bearer token, or a function that returns the current one, for tokens that expire: it is called before each request, and
   * a watch whose token expires continues with the next one. Without a token, requests carry no credentials.
   */
  readonly token?: string | (() => string | Promise<string>) | undefined;
  /** PEM certificates of the authorities to trust instead of those of the system. Only with `https`. */
  readonly ca?: string | Uint8Array | undefined;
  /** The certificate of this client with its chain, as PEM, for servers that accept it as a credential. Needs `key`. */
  readonly cert?: string | Uint8Array | undefined;
  /** The key of the certificate, as PEM. */
  readonly key?: string | Uint8Array | undefined;
}

/** Client options with the defaults filled in. */
export type Settings = ServerOptions & Required<Omit<ClientOptions, keyof ServerOptions>>;

/** Fills in the defaults. Throws a TypeError if the address is not a URL of a server, a time limit is not positive, or a certificate has no key. */
export function settingsFrom(options: ClientOptions): Settings {
  const { address, token, ca, cert, key, requestTimeoutMs = 10_000 } = options;
  const limits = {
    requestTimeoutMs,
    retryTimeoutMs: requestTimeoutMs,
    transferTimeoutMs: 300_000,
    idleTimeoutMs: 15_000,
    reconnectTimeoutMs: 30_000,
  };
  for (const name of limitNames) {
    limits[name] = options[name] ?? limits[name];
    if (!(limits[name] > 0))
      throw new TypeError(`${name} is ${limits[name]}; use a positive number`);
  }
  if (!/^https?:$/.test(URL.parse(address)?.protocol ?? "")) {
    throw new TypeError(`"${address}" is not a server address; use http://host:port`);
  }
  if ((cert === undefined) !== (key === undefined)) {
    throw new TypeError("`cert` and `key` belong together; give both, or neither");
  }
  return { address, token, ca, cert, key, ...limits };
}

const limitNames = [
  "requestTimeoutMs",
  "retryTimeoutMs",
  "transferTimeoutMs",
  "idleTimeoutMs",
  "reconnectTimeoutMs",
] as const;
