/** A sign-in that was begun in this tab, and continues when the provider leads back to it. */
export interface BegunSignIn {
  readonly state: string;
  readonly nonce: string;
  /** Proves that who redeems the code is who asked for it. */
  readonly verifier: string;
  /** Path and search of the screen that was asked for. */
  readonly returnTo: string;
  /** The provider that was asked, and as which client. Only it gets the code. */
  readonly issuer: string;
  readonly clientId: string;
}

const key = "reeve.sign-in";

export function keepSignIn(storage: Pick<Storage, "setItem">, begun: BegunSignIn): void {
  storage.setItem(key, JSON.stringify(begun));
}

/** Returns the sign-in of this tab, once: a code is redeemed once only. Undefined: none was begun here. */
export function takeSignIn(
  storage: Pick<Storage, "getItem" | "removeItem">,
): BegunSignIn | undefined {
  const stored = storage.getItem(key);
  storage.removeItem(key);
  try {
    const begun = JSON.parse(stored ?? "{}") as Partial<BegunSignIn>;
    const { state, nonce, verifier, issuer, clientId } = begun;
    if (state === undefined || nonce === undefined || verifier === undefined) return undefined;
    if (issuer === undefined || clientId === undefined) return undefined;
    return { state, nonce, verifier, issuer, clientId, returnTo: pathOf(begun.returnTo) };
  } catch {
    return undefined;
  }
}

/** Returns a path of this page: what is stored must not lead to another server, nor back to the sign-in. */
function pathOf(returnTo = "/"): string {
  const isPath = /^\/(?![/\\])/.test(returnTo);
  return isPath && !returnTo.startsWith("/sign-in") ? returnTo : "/";
}
