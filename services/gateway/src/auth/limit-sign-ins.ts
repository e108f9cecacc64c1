import { ErrorReason } from "@reeve/contracts/error";
import type { Clock } from "@reeve/platform/async/clock";
import { Failure } from "@reeve/platform/failure";
import { addressGroup } from "@reeve/platform/rpc/http/address-group";
import { clientAddressOf } from "@reeve/platform/rpc/http/client-address";
import type { Authenticate } from "@reeve/platform/rpc/principal";
import {
  bearerTokenOf,
  isGuessable,
  tokenDigest,
} from "@reeve/platform/rpc/credentials/bearer-tokens";
import { callerOf, isOpenService } from "@reeve/platform/rpc/principal";
import { counter } from "@reeve/platform/telemetry/metrics";
import { hasValidSignature } from "./oidc/jwt-refusal.ts";
import { burst, SignInBudget } from "./sign-in-budget.ts";

const limited = counter({
  name: "reeve_limited_sign_ins_total",
  help: "Requests with a wrong or unchecked credential, whose network had sent too many wrong ones.",
  labels: [],
});

/**
 * Returns `authenticate` as a function that refuses further short credentials of a network (an IPv4 address or an IPv6 /64) that has sent
 * too many wrong ones, without a look at them: a guess then learns nothing. Credentials that nobody can guess, and those that this
 * gateway has accepted, are always checked, so a right one is not refused because somebody behind the same address guesses. A token
 * with the signature of the identity provider is no guess, even if it is refused.
 */
export function limitSignIns(authenticate: Authenticate, clock: Pick<Clock, "now">): Authenticate {
  // So that an alert sees the first one too.
  limited.inc({}, 0);
  const budget = new SignInBudget(clock);
  return async (context) => {
    const token = bearerTokenOf(context.requestHeader);
    // Without a token there is nothing to guess: a certificate is not secret, and proven by the handshake.
    if (token === undefined || isOpenService(context.service)) return await authenticate(context);
    const network = addressGroup(clientAddressOf(context.values));
    const attempt = budget.begin(network, tokenDigest(token));
    const isOver = attempt.delayMs > 0;
    if (isOver && isGuessable(token)) throw tooMany(attempt.delayMs);
    try {
      await authenticate(context);
      attempt.accept();
    } catch (error) {
      if (isGuess(error)) {
        attempt.refuse();
        if (isOver) throw tooMany(attempt.delayMs);
      }
      // The credential is right; its role forbids the call.
      else if (callerOf(context.values) !== undefined) attempt.accept();
      else attempt.release();
      throw error;
    }
  };
}

/** Whether a credential was refused, and may have been invented. One that could not be checked is no guess. */
function isGuess(error: unknown): boolean {
  return error instanceof Failure && error.kind === "unauthenticated" && !hasValidSignature(error);
}

function tooMany(retryAfterMs: number): Failure {
  limited.inc({});
  return new Failure(
    "exhausted",
    ErrorReason.QUOTA_EXCEEDED,
    `this network has sent more than ${burst} wrong credentials; wait, and check the token`,
    {
      metadata: { quota: "sign-ins", limit: "wrong_credentials", max: String(burst) },
      retryAfterMs,
    },
  );
}
