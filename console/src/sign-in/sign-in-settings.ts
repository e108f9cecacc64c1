/** How people sign in with the provider of the deployment. */
export interface SignInSettings {
  readonly issuer: string;
  /** A public client of the provider: it has no secret. */
  readonly clientId: string;
  readonly scope: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** How long each request of a sign-in may take. */
export const requestTimeoutMs = 15_000;

/** "none": the deployment has no provider, or its gateway is older than this page. */
export type SignInOffer = SignInSettings | "none" | "unreachable";

/** Reads from the gateway how people sign in. */
export async function readSignInSettings(
  signal: AbortSignal,
  request: typeof fetch = fetch,
): Promise<SignInOffer> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutMs)]);
  let text: string;
  try {
    const answer = await request("/console/sign-in.json", { signal: bounded });
    if (!answer.ok) return answer.status < 500 ? "none" : "unreachable";
    text = await answer.text();
  } catch {
    return "unreachable";
  }
  try {
    const settings = JSON.parse(text) as Partial<SignInSettings>;
    const { issuer, clientId, scope = "openid", parameters = {} } = settings;
    if (issuer === undefined || clientId === undefined) return "none";
    return { issuer, clientId, scope, parameters };
  } catch {
    // A gateway that does not know the path answers with the page.
    return "none";
  }
}
