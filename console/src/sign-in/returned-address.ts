/**
 * Returns the address with which the provider led back, and removes what it contains from the address bar and the history at once.
 * Undefined: the page was opened in another way.
 */
export function takeReturnedAddress(
  location: Pick<Location, "href">,
  history: Pick<History, "state" | "replaceState">,
): URL | undefined {
  const address = new URL(location.href);
  const { pathname, searchParams } = address;
  if (pathname !== "/sign-in" || !(searchParams.has("code") || searchParams.has("error"))) {
    return undefined;
  }
  history.replaceState(history.state, "", pathname);
  return address;
}
