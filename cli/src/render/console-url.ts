/**
 * Returns the address with which a browser signs in to the console. The token is in the fragment, which browsers send to no server,
 * and the page removes it from the address bar.
 */
export function consoleUrl(url: string, token: string, path = "/"): string {
  return `${url}${path}#token=${encodeURIComponent(token)}`;
}
