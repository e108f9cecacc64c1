import * as oauth from "oauth4webapi";
import { currentSession, renewToken, renewWith } from "../api/session.ts";
import type { SignedIn } from "./oidc.ts";
import { renewSignIn } from "./oidc.ts";
import type { SignInSettings } from "./sign-in-settings.ts";
import { TokenRenewal } from "./token-renewal.ts";

/**
 * Renews a token as long as the session has it. The refresh token is in the memory of the page only: after a reload, the session lasts
 * until its token expires, and the next sign-in asks for nothing while the provider knows the person.
 */
export function keepRenewed(settings: SignInSettings, signedIn: SignedIn): void {
  if (signedIn.refreshToken === undefined || currentSession().token !== signedIn.accessToken)
    return;
  const { renewed } = new TokenRenewal(
    {
      renew: (refreshToken) => renewSignIn(settings, refreshToken),
      replace: renewToken,
      isFinal: (thrown) => thrown instanceof oauth.ResponseBodyError && thrown.status < 500,
      schedule: (callback, delayMs) => void setTimeout(callback, delayMs),
      nowMs: Date.now,
    },
    signedIn,
  );
  renewWith(renewed);
}
