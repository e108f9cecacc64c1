/** Where a server is, and how long its client bears what goes wrong. */
export interface ClientOptions {
  /** `http://host:port` or `https://host:port`. */
  readonly address: string;
  /** The bearer token. Absent: none is sent. */
  readonly token?: string;
  /** Certificates, in PEM, of the authorities to trust instead of those of the system. Only with `https`. */
  readonly ca?: string | Uint8Array;
  /** How long a request may take, all attempts together. Default: 10,000. */
  readonly requestTimeoutMs?: number;
  /** How long a file may be on its way. Default: 300,000. */
  readonly transferTimeoutMs?: number;
  /** How long a stream may say nothing, heartbeats included, until its connection counts as lost. Default: 15,000. */
  readonly silenceMs?: number;
  /** How long nothing may come of any attempt to watch until that is given up. Default: 30,000. */
  readonly patienceMs?: number;
}

/** The options with their defaults. Throws a TypeError for an address that is none, or a time that is not positive. */
export type Settings = Required<Omit<ClientOptions, "token" | "ca">> &
  Pick<ClientOptions, "token" | "ca">;

export function settingsOf(options: ClientOptions): Settings {
  const settings = {
    requestTimeoutMs: 10_000,
    transferTimeoutMs: 300_000,
    silenceMs: 15_000,
    patienceMs: 30_000,
    ...options,
  };
  if (!/^https?:$/.test(URL.parse(settings.address)?.protocol ?? "")) {
    throw new TypeError(`"${settings.address}" is no address: write http://host:port`);
  }
  const times = ["requestTimeoutMs", "transferTimeoutMs", "silenceMs", "patienceMs"] as const;
  for (const name of times) {
    if (!(settings[name] > 0))
      throw new TypeError(`${name} is ${settings[name]}: it must be positive`);
  }
  return settings;
}
