import * as oauth from "oauth4webapi";
import type { SignInSettings } from "./sign-in-settings.ts";

/** Returns why a sign-in failed, and what to do. */
export function signInProblem(thrown: unknown, { issuer }: SignInSettings, origin: string): string {
  if (thrown instanceof oauth.AuthorizationResponseError) {
    const detail = described(thrown.error, thrown.error_description);
    return `${issuer} did not sign you in: ${detail}. Try again, or ask who runs it.`;
  }
  if (thrown instanceof oauth.ResponseBodyError) {
    const detail = described(thrown.error, thrown.error_description);
    return `${issuer} gave no token: ${detail}. Begin the sign-in again. If it fails again, check that its client is public and permits authorization codes and ${origin}/sign-in.`;
  }
  if (thrown instanceof DOMException && thrown.name === "TimeoutError") {
    return `${issuer} did not answer in time. Begin the sign-in again.`;
  }
  if (thrown instanceof TypeError) {
    // Browsers do not say why a request was not sent or not answered.
    return `This browser cannot reach ${issuer}, or it does not answer pages of ${origin}. Check that it works, and that its client permits the web origin ${origin} (CORS).`;
  }
  const why = thrown instanceof Error ? thrown.message : String(thrown);
  return `The answer of ${issuer} cannot be used: ${why}. Begin the sign-in again.`;
}

function described(error: string, description: string | undefined): string {
  return description === undefined ? error : `${error}: ${description}`;
}
