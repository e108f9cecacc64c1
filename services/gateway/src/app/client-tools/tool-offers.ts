import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ToolOffer } from "@reeve/contracts/tool";
import { ToolOfferSchema } from "@reeve/contracts/tool";
import { ErrorReason } from "@reeve/contracts/error";
import type { Table } from "@reeve/jetstream/table/port";
import { Failure } from "@reeve/platform/failure";
import { assertOfferRoom } from "./offer-room.ts";
import type { PackedOffer } from "./packed-offer.ts";
import { isLater, isValid, latestOffers, packOffer, toolsOf } from "./packed-offer.ts";

/** What a client offers, to what, through which stream. */
export type NewOffer = Pick<
  ToolOffer,
  "tenant" | "scope" | "clientId" | "subject" | "streamId" | "tools"
>;

/** The offer of one stream. */
export interface HeldOffer {
  /** Whether a later stream of the same client has replaced this one, as far as this gateway knows. */
  isReplaced(): boolean;
  /** Aborts once a later stream of the same client has opened at this gateway. */
  readonly replaced: AbortSignal;
  /** Renews the offer. Returns false if a later stream has replaced this one. */
  renew(signal: AbortSignal): Promise<boolean>;
}

/** The tools that clients offer, over all gateways. Those of other gateways appear with a short delay. */
export class ToolOffers {
  readonly #table: Pick<Table<ToolOffer>, "get" | "create" | "update">;
  readonly #others: () => readonly PackedOffer[];
  readonly #now: () => number;
  /** What this gateway wrote last, by key: known here at once. */
  readonly #own = new Map<string, PackedOffer>();
  /** The latest stream of each client at this gateway, by key. */
  readonly #streams = new Map<string, AbortController>();
  /** What this gateway is about to write: streams that open together share the room that is left. */
  readonly #opening = new Set<PackedOffer>();

  /** `others` returns all stored offers. */
  constructor(
    table: Pick<Table<ToolOffer>, "get" | "create" | "update">,
    others: () => readonly PackedOffer[],
    now: () => number,
  ) {
    this.#table = table;
    this.#others = others;
    this.#now = now;
  }

  /** Returns the valid offers to a thread or a run, ordered by client. */
  of(tenant: string, scope: string): readonly Pick<ToolOffer, "subject" | "tools">[] {
    return [...this.#latest().values()]
      .filter((each) => each.tenant === tenant && each.scope === scope)
      .toSorted((a, b) => (a.clientId < b.clientId ? -1 : 1))
      .map((each) => ({ subject: each.subject, tools: toolsOf(each) }));
  }

  /**
   * Offers tools, in place of an earlier offer of the same client. Throws a Failure of kind `denied` if another person has a client with
   * this id, and `exhausted` if there are too many clients, or too many bytes of tools.
   */
  async open(offer: NewOffer, signal: AbortSignal): Promise<HeldOffer> {
    const packed = packOffer(this.#record({ ...offer, generation: 0 }));
    const { key } = packed;
    const latest = this.#latest();
    const same = latest.get(key);
    if (same !== undefined && same.subject !== offer.subject) throw isForeign(offer);
    assertOfferRoom(packed, this.#withOpening(latest));
    const generation = await this.#opened(packed, () => this.#replace(key, offer, signal));
    const isReplaced = () => (this.#latest().get(key)?.generation ?? 0) > generation;
    const replaced = new AbortController();
    this.#streams.get(key)?.abort();
    this.#streams.set(key, replaced);
    return {
      isReplaced,
      replaced: replaced.signal,
      renew: async (until) => {
        const row = await this.#table.get(key, until);
        if (row !== undefined && row.record.streamId !== offer.streamId) return false;
        if (isReplaced()) return false;
        await this.#write(key, { ...offer, generation }, row?.revision, until);
        return true;
      },
    };
  }

  #all(): readonly PackedOffer[] {
    return [...this.#others(), ...this.#own.values()];
  }

  #latest(): ReadonlyMap<string, PackedOffer> {
    const nowMs = this.#now();
    for (const [key, offer] of this.#own) {
      if (isValid(offer, nowMs)) continue;
      this.#own.delete(key);
      this.#streams.delete(key);
    }
    return latestOffers(this.#all(), nowMs);
  }

  /** Returns the latest offers, and the larger one of a client that is being replaced. */
  #withOpening(latest: ReadonlyMap<string, PackedOffer>): Iterable<PackedOffer> {
    const all = new Map(latest);
    for (const offer of this.#opening) {
      if ((all.get(offer.key)?.size ?? -1) < offer.size) all.set(offer.key, offer);
    }
    return all.values();
  }

  async #opened(offer: PackedOffer, write: () => Promise<number>): Promise<number> {
    this.#opening.add(offer);
    try {
      return await write();
    } finally {
      this.#opening.delete(offer);
    }
  }

  /** Writes a new row, or one in place of that of an earlier stream. Returns its generation. */
  async #replace(key: string, offer: NewOffer, signal: AbortSignal): Promise<number> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const row = await this.#table.get(key, signal);
      if (row !== undefined && row.record.subject !== offer.subject) throw isForeign(offer);
      // The store may have removed a row that counts for another gateway, whose clock differs.
      const known = this.#all().filter((each) => each.key === key);
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
    const record = this.#record(offer);
    const row =
      revision === undefined
        ? await this.#table.create(key, record, signal)
        : await this.#table.update(key, record, revision, signal);
    const packed = packOffer(record);
    const known = this.#own.get(key);
    if (row !== undefined && (known === undefined || isLater(packed, known))) {
      this.#own.set(key, packed);
    }
    return row !== undefined;
  }

  #record(offer: NewOffer & Pick<ToolOffer, "generation">): ToolOffer {
    return create(ToolOfferSchema, { ...offer, renewedAt: timestampFromMs(this.#now()) });
  }
}

/** How many other streams of a client may be opened first. */
const maxAttempts = 8;

function isForeign({ clientId, scope }: NewOffer): Failure {
  const message = `another person has the client ${clientId} of ${scope}; use another client_id`;
  return new Failure("denied", ErrorReason.PERMISSION_DENIED, message);
}
