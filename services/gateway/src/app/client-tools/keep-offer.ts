import { ErrorReason } from "@reeve/contracts/error";
import { every } from "@reeve/platform/async/every";
import { onAbort } from "@reeve/platform/async/on-abort";
import { Failure } from "@reeve/platform/failure";
import { validMs } from "./packed-offer.ts";
import type { HeldOffer } from "./tool-offers.ts";

interface OfferKeeping {
  readonly clientId: string;
  /** The time, in milliseconds since the epoch. */
  now(): number;
  /** How often the offer is renewed, in milliseconds. Default: 15,000. */
  readonly intervalMs?: number;
}

/**
 * Renews an offer until it is disposed. Calls `fail` when another stream of the client has replaced it, and when it could not be renewed
 * for so long that other gateways do not count it anymore.
 */
export function keepOffer(
  offer: Pick<HeldOffer, "renew" | "replaced">,
  { clientId, now, intervalMs = 15_000 }: OfferKeeping,
  fail: (error: Failure) => void,
  signal: AbortSignal,
): Disposable {
  let renewedAtMs = now();
  const renew = async () => {
    const startedAtMs = now();
    if (startedAtMs - renewedAtMs >= validMs) fail(notRenewed(clientId));
    if (await offer.renew(signal)) renewedAtMs = Math.max(renewedAtMs, startedAtMs);
    else fail(offerReplaced(clientId));
  };
  const resources = new DisposableStack();
  resources.use(onAbort(offer.replaced, () => fail(offerReplaced(clientId))));
  // When the store does not answer, the next renewal counts.
  resources.use(every(intervalMs, () => void renew().catch(() => undefined)));
  return resources;
}

/** Returns the Failure of a stream whose client has opened another one. */
export function offerReplaced(clientId: string): Failure {
  const message = `another stream of the client ${clientId} replaced this one; use a client_id of its own for each page or process`;
  return new Failure("conflict", ErrorReason.OFFER_REPLACED, message);
}

function notRenewed(clientId: string): Failure {
  const message = `the offer of the client ${clientId} could not be renewed for ${validMs / 1_000} s; connect again`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
}
