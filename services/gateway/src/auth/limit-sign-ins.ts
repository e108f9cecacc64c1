import { ErrorReason } from "@reeve/contracts/error";
import type { Clock } from "@reeve/platform/async/clock";
import { Failure } from "@reeve/platform/failure";
import { addressGroup } from "@reeve/platform/rpc/http/address-group";
import { clientAddressOf } from "@reeve/platform/rpc/http/client-address";
import type { Authenticate } from "@reeve/platform/rpc/principal";
import { bearerTokenOf, callerOf, isOpenService, tokenDigest } from "@reeve/platform/rpc/principal";
import { counter } from "@reeve/platform/telemetry/metrics";
import { burst, SignInBudget } from "./sign-in-budget.ts";

const limited = counter({
  name: "reeve_limited_sign_ins_total",
  help: "Requests whose credential was not checked, because their network had sent too many wrong ones.",
  labels: [],
});

/**
 * Returns `authenticate` as a function that refuses further credentials of a network (an IPv4 address or an IPv6 /64) that has sent too
 * many wrong ones, without a look at them: a guess then learns nothing. Tokens that this gateway has accepted are always
 * checked, so nobody who works already is refused because somebody behind the same address guesses.
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
    const credential = tokenDigest(token);
    const delayMs = budget.delayMs(network, credential);
    if (delayMs > 0) {
      limited.inc({});
      throw tooMany(delayMs);
    }
    try {
      await authenticate(context);
      budget.accept(credential);
    } catch (error) {
      if (isWrong(error)) budget.refuse(network, credential);
      // The credential is right; its role forbids the call.
      else if (callerOf(context.values) !== undefined) budget.accept(credential);
      throw error;
    }
  };
}

/** Whether a credential was refused. One that could not be checked is no guess. */
function isWrong(error: unknown): boolean {
  return error instanceof Failure && error.kind === "unauthenticated";
}

function tooMany(retryAfterMs: number): Failure {
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
