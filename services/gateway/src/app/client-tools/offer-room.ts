import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { PackedOffer } from "./packed-offer.ts";

/** Clients of one thread or run at a time. */
const maxClients = 16;
/** What one subject, and one tenant, offers at a time, over all threads and runs. Each gateway holds all of it. */
const limits = {
  subject: { clients: 256, bytes: 16_777_216 },
  tenant: { clients: 4_096, bytes: 134_217_728 },
} as const;

/**
 * Throws a Failure of kind `exhausted` if there is no room for an offer beside `valid`, the valid offers of all clients. An earlier
 * offer of the same client gives its room to this one.
 */
export function assertOfferRoom(offer: PackedOffer, valid: Iterable<PackedOffer>): void {
  const others = [...valid].filter(
    ({ tenant, key }) => tenant === offer.tenant && key !== offer.key,
  );
  if (others.filter(({ scope }) => scope === offer.scope).length >= maxClients) {
    throw tooMany(`${maxClients} clients offer tools to ${offer.scope}`);
  }
  const { tenant, subject } = limits;
  assertBelow(others, offer, tenant, "of the tenant");
  const own = others.filter((each) => each.subject === offer.subject);
  assertBelow(own, offer, subject, "with this credential");
}

function assertBelow(
  others: readonly PackedOffer[],
  { size }: PackedOffer,
  limit: { readonly clients: number; readonly bytes: number },
  whose: string,
): void {
  if (others.length >= limit.clients) {
    throw tooMany(`${limit.clients} clients ${whose} offer tools`);
  }
  const bytes = others.reduce((sum, each) => sum + each.size, 0);
  if (bytes + size > limit.bytes) {
    throw tooMany(`the clients ${whose} offer tools that take ${bytes} of ${limit.bytes} bytes`);
  }
}

function tooMany(problem: string): Failure {
  const message = `${problem} already; close one of them, and try again in a minute`;
  return new Failure("exhausted", ErrorReason.TOO_MANY_CLIENTS, message);
}
