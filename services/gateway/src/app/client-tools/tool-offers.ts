import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { bucketOf } from "@reeve/contracts/channel";
import type { ToolOffer } from "@reeve/contracts/tool";
import { ToolOfferSchema } from "@reeve/contracts/tool";
import { ErrorReason } from "@reeve/contracts/error";
import type { Table } from "@reeve/jetstream/table/port";
import { Failure } from "@reeve/platform/failure";

/** How long an offer is valid after it was renewed: its client has this time to connect again. */
export const validMs = 60_000;
/** Clients of one thread or run at a time. */
const maxClients = 16;
/** Clients of one subject, and of one tenant, at a time, over all threads and runs. */
const maxOfSubject = 256;
const maxOfTenant = 4_096;

const { key: keyOf } = bucketOf(ToolOfferSchema);

/** What a client offers, to what, through which stream. */
export type NewOffer = Pick<
  ToolOffer,
  "tenant" | "scope" | "clientId" | "subject" | "streamId" | "tools"
>;

/** The offer of one stream. */
export interface HeldOffer {
  /** Whether a later stream of the same client has replaced this one, as far as this gateway knows. */
  isReplaced(): boolean;
  /** Renews the offer. Returns false if a later stream has replaced this one. */
  renew(signal: AbortSignal): Promise<boolean>;
}

/** Whether an offer is valid at `nowMs`. */
export function isValid({ renewedAt }: ToolOffer, nowMs: number): boolean {
  return renewedAt !== undefined && timestampMs(renewedAt) + validMs > nowMs;
}

/** The tools that clients offer, over all gateways. Those of other gateways appear with a short delay. */
export class ToolOffers {
  readonly #table: Pick<Table<ToolOffer>, "get" | "create" | "update">;
  readonly #others: () => readonly ToolOffer[];
  readonly #now: () => number;
  /** What this gateway wrote last, by key: known here at once. */
  readonly #own = new Map<string, ToolOffer>();

  /** `others` returns all stored offers. */
  constructor(
    table: Pick<Table<ToolOffer>, "get" | "create" | "update">,
    others: () => readonly ToolOffer[],
    now: () => number,
  ) {
    this.#table = table;
    this.#others = others;
    this.#now = now;
  }

  /** Returns the valid offers to a thread or a run, ordered by client. */
  of(tenant: string, scope: string): readonly ToolOffer[] {
    const nowMs = this.#now();
    const latest = new Map<string, ToolOffer>();
    for (const [key, offer] of this.#own) if (!isValid(offer, nowMs)) this.#own.delete(key);
    for (const offer of this.#all()) {
      if (offer.tenant !== tenant || offer.scope !== scope || !isValid(offer, nowMs)) continue;
      const known = latest.get(offer.clientId);
      if (known === undefined || isLater(offer, known)) latest.set(offer.clientId, offer);
    }
    return [...latest.values()].toSorted((a, b) => (a.clientId < b.clientId ? -1 : 1));
  }

  /**
   * Offers tools, in place of an earlier offer of the same client. Throws a Failure of kind `denied` if another person has a client with
   * this id, and `exhausted` if there are too many clients.
   */
  async open(offer: NewOffer, signal: AbortSignal): Promise<HeldOffer> {
    const { tenant, scope, clientId, subject, streamId } = offer;
    const valid = this.of(tenant, scope);
    const same = valid.find((each) => each.clientId === clientId);
    if (same !== undefined && same.subject !== subject) throw isForeign(offer);
    if (same === undefined) this.#assertRoom(offer, valid.length);
    const key = keyOf({ tenant, scope, client: clientId });
    const generation = await this.#replace(key, offer, signal);
    const isReplaced = () => {
      const latest = this.of(tenant, scope).find((each) => each.clientId === clientId);
      return latest !== undefined && latest.generation > generation;
    };
    return {
      isReplaced,
      renew: async (until) => {
        const row = await this.#table.get(key, until);
        if (row !== undefined && row.record.streamId !== streamId) return false;
        if (isReplaced()) return false;
        await this.#write(key, { ...offer, generation }, row?.revision, until);
        return true;
      },
    };
  }

  #all(): readonly ToolOffer[] {
    return [...this.#others(), ...this.#own.values()];
  }

  #assertRoom(offer: NewOffer, clients: number): void {
    if (clients >= maxClients) throw tooMany(`${maxClients} clients offer tools to ${offer.scope}`);
    const nowMs = this.#now();
    const ofTenant = this.#all().filter(
      (each) => each.tenant === offer.tenant && isValid(each, nowMs),
    );
    if (countClients(ofTenant) >= maxOfTenant) {
      throw tooMany(`${maxOfTenant} clients of the tenant offer tools`);
    }
    if (countClients(ofTenant.filter(({ subject }) => subject === offer.subject)) >= maxOfSubject) {
      throw tooMany(`${maxOfSubject} clients with this credential offer tools`);
    }
  }

  /** Writes a new row, or one in place of that of an earlier stream. Returns its generation. */
  async #replace(key: string, offer: NewOffer, signal: AbortSignal): Promise<number> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const row = await this.#table.get(key, signal);
      if (row !== undefined && row.record.subject !== offer.subject) throw isForeign(offer);
      // The store may have removed a row that counts for another gateway, whose clock differs.
      const known = this.#all().filter((each) => keyOfOffer(each) === key);
      const generations = known.map(({ generation }) => generation);
      const generation = Math.max(row?.record.generation ?? 0, ...generations) + 1;
      if (await this.#write(key, { ...offer, generation }, row?.revision, signal)) {
        return generation;
      }
    }
    const message = `the client ${offer.clientId} opens streams faster than they can be recorded; try again`;
    throw new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
  }

  /** Returns false if another stream wrote first. */
  async #write(
    key: string,
    offer: NewOffer & Pick<ToolOffer, "generation">,
    revision: number | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    const record = create(ToolOfferSchema, { ...offer, renewedAt: timestampFromMs(this.#now()) });
    const row =
      revision === undefined
        ? await this.#table.create(key, record, signal)
        : await this.#table.update(key, record, revision, signal);
    const known = this.#own.get(key);
    if (row !== undefined && (known === undefined || isLater(record, known))) {
      this.#own.set(key, record);
    }
    return row !== undefined;
  }
}

/** How many other streams of a client may be opened first. */
const maxAttempts = 8;

function isLater(a: ToolOffer, b: ToolOffer): boolean {
  return a.generation === b.generation ? timeOf(a) >= timeOf(b) : a.generation > b.generation;
}

function timeOf({ renewedAt }: ToolOffer): number {
  return renewedAt === undefined ? 0 : timestampMs(renewedAt);
}

function isForeign({ clientId, scope }: NewOffer): Failure {
  const message = `another person has the client ${clientId} of ${scope}; use another client_id`;
  return new Failure("denied", ErrorReason.PERMISSION_DENIED, message);
}

function tooMany(problem: string): Failure {
  const message = `${problem} already; close one of them, and try again in a minute`;
  return new Failure("exhausted", ErrorReason.TOO_MANY_CLIENTS, message);
}

function countClients(offers: readonly ToolOffer[]): number {
  return new Set(offers.map(keyOfOffer)).size;
}

function keyOfOffer({ tenant, scope, clientId }: ToolOffer): string {
  return keyOf({ tenant, scope, client: clientId });
}
