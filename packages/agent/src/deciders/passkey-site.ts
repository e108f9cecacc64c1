/** Where people use their passkeys. */
export interface PasskeySite {
  /** Origin of the console, such as `https://reeve.example.com`. */
  readonly origin: string;
  /** Its host name, for which passkeys are registered. */
  readonly rpId: string;
}

/**
 * Returns where people use passkeys by the address of the gateway, or undefined if browsers offer none there: they need https, or
 * `localhost`, and a name instead of an IP address.
 */
export function passkeySiteOf(publicUrl: string | undefined): PasskeySite | undefined {
  if (publicUrl === undefined || !URL.canParse(publicUrl)) return undefined;
  const { origin, hostname, protocol } = new URL(publicUrl);
  const isLocal = hostname === "localhost" || hostname.endsWith(".localhost");
  const isAddress = hostname.startsWith("[") || /^[0-9.]+$/.test(hostname);
  if (isAddress || (protocol !== "https:" && !(isLocal && protocol === "http:"))) return undefined;
  return { origin, rpId: hostname };
}
