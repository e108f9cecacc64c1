import { currentSession, renewToken } from "../api/session.ts";
import type { SignedIn } from "./oidc.ts";
import { renewSignIn } from "./oidc.ts";
import type { SignInSettings } from "./sign-in-settings.ts";

/** How long before its end a token is renewed. */
const earlyMs = 60_000;
const minDelayMs = 10_000;
/** Timers of browsers run at once if they are set for longer. */
const maxDelayMs = 2 ** 31 - 1;

/**
 * Renews a token as long as the session has it. The refresh token is in the memory of the page only: after a reload, the session lasts
 * until its token expires, and the next sign-in asks for nothing while the provider knows the person.
 */
export function keepRenewed(
  settings: SignInSettings,
  { accessToken, ...signedIn }: SignedIn,
): void {
  const { refreshToken, expiresInMs } = signedIn;
  if (refreshToken === undefined || expiresInMs === undefined) return;
  const renew = async () => {
    if (currentSession().token !== accessToken) return;
    try {
      const renewed = await renewSignIn(settings, refreshToken);
      if (renewToken(accessToken, renewed.accessToken)) keepRenewed(settings, renewed);
    } catch {
      // The session ends when its token does, and the page says so.
    }
  };
  const delayMs = Math.max(minDelayMs, expiresInMs - earlyMs);
  setTimeout(() => void renew(), Math.min(delayMs, maxDelayMs));
}
