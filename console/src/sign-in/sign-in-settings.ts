/** How people sign in with the provider of the deployment. */
export interface SignInSettings {
  readonly issuer: string;
  /** A public client of the provider: it has no secret. */
  readonly clientId: string;
  readonly scope: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Reads it from the gateway. Undefined: the deployment has no provider, or its gateway is older than this page. */
export async function readSignInSettings(signal: AbortSignal): Promise<SignInSettings | undefined> {
  try {
    const answer = await fetch("/console/sign-in.json", { signal });
    if (!answer.ok) return undefined;
    const settings = (await answer.json()) as Partial<SignInSettings>;
    const { issuer, clientId, scope = "openid", parameters = {} } = settings;
    if (issuer === undefined || clientId === undefined) return undefined;
    return { issuer, clientId, scope, parameters };
  } catch {
    // The form for tokens remains.
    return undefined;
  }
}
