/**
 * Whether an address is at one of the permitted origins, such as `https://models.example.org`, or `https://*.example.org` for any
 * subdomain. Scheme and port must be the same. Whether the address is private does not matter: the operator has named it.
 */
export function isPermittedOrigin(address: string, origins: readonly string[]): boolean {
  const url = URL.parse(address);
  if (url === null) return false;
  return origins.some((origin) => {
    if (!origin.includes("://*.")) return URL.parse(origin)?.origin === url.origin;
    // A wildcard is no valid host, so the rest is parsed, and compared as a suffix.
    const parent = URL.parse(origin.replace("://*.", "://"));
    return (
      parent !== null &&
      parent.protocol === url.protocol &&
      parent.port === url.port &&
      url.hostname.endsWith(`.${parent.hostname}`)
    );
  });
}

/** Returns why an origin of the operator's list cannot be used. Undefined: it can. */
export function originProblem(origin: string): string | undefined {
  const plain = origin.replace("://*.", "://");
  const url = URL.parse(plain);
  if (url === null || !/^https?:$/.test(url.protocol) || plain.includes("*")) {
    return "must be an origin, such as https://models.example.org or https://*.example.org";
  }
  if (!isBare(url)) return "must have no path, query, fragment, and credentials";
  const isWildcard = plain !== origin;
  if (isWildcard && (/^[\d.]+$|^\[/.test(url.hostname) || !url.hostname.includes("."))) {
    return "must have a domain of at least two labels after *.";
  }
  return undefined;
}

function isBare({ pathname, search, hash, username, password }: URL): boolean {
  return pathname === "/" && search + hash + username + password === "";
}
