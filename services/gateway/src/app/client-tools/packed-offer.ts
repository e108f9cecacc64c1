import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { bucketOf } from "@reeve/contracts/channel";
import { storedReadOptions } from "@reeve/contracts/rules/nesting";
import type { ToolOffer } from "@reeve/contracts/tool";
import { ToolOfferSchema } from "@reeve/contracts/tool";
import { countValues } from "./count-values.ts";
import type { Table } from "@reeve/jetstream/table/port";

/** How long an offer is valid after it was renewed: its client has this time to connect again. */
export const validMs = 60_000;

const { key: keyOf } = bucketOf(ToolOfferSchema);

/** An offer with encoded tools: decoded, small values of their schemas take more than ten times the memory, in each gateway. */
export interface PackedOffer extends Pick<
  ToolOffer,
  "tenant" | "scope" | "clientId" | "subject" | "generation"
> {
  /** The key of its row. */
  readonly key: string;
  /** When it was renewed, in milliseconds since the epoch. */
  readonly renewedAtMs: number;
  /** Its tools, as an encoded `ToolOffer` without other fields. */
  readonly tools: Uint8Array;
  /** About how many bytes its tools take in the gateway with its stream, where they are decoded. */
  readonly size: number;
}

/** What a value of a schema takes in memory, however short it is. */
const bytesPerValue = 64;

/** Packs an offer. */
export function packOffer(offer: ToolOffer): PackedOffer {
  const { tenant, scope, clientId, subject, generation, renewedAt, tools } = offer;
  const encoded = toBinary(ToolOfferSchema, create(ToolOfferSchema, { tools }));
  const schemas = tools.flatMap(({ inputSchema = {}, client }) => [
    inputSchema,
    client?.outputSchema ?? {},
  ]);
  const values = schemas.reduce((sum, schema) => sum + countValues(schema), 0);
  return {
    key: keyOf({ tenant, scope, client: clientId }),
    tenant,
    scope,
    clientId,
    subject,
    generation,
    renewedAtMs: renewedAt === undefined ? -Infinity : timestampMs(renewedAt),
    tools: encoded,
    size: encoded.length + values * bytesPerValue,
  };
}

/** Returns the tools of a packed offer. */
export function toolsOf({ tools }: PackedOffer): ToolOffer["tools"] {
  return fromBinary(ToolOfferSchema, tools, storedReadOptions).tools;
}

/** Whether an offer is valid at `nowMs`. */
export function isValid({ renewedAtMs }: PackedOffer, nowMs: number): boolean {
  return renewedAtMs + validMs > nowMs;
}

/** Returns the valid offers, each client once with its latest one. */
export function latestOffers(
  offers: Iterable<PackedOffer>,
  nowMs: number,
): ReadonlyMap<string, PackedOffer> {
  const latest = new Map<string, PackedOffer>();
  for (const offer of offers) {
    if (!isValid(offer, nowMs)) continue;
    const known = latest.get(offer.key);
    if (known === undefined || isLater(offer, known)) latest.set(offer.key, offer);
  }
  return latest;
}

/** Whether an offer was written after another one of its client, or is the same. */
export function isLater(a: PackedOffer, b: PackedOffer): boolean {
  return a.generation === b.generation
    ? a.renewedAtMs >= b.renewedAtMs
    : a.generation > b.generation;
}

/** Returns a watch that packs each offer as soon as it was read. */
export function packedWatch(
  table: Pick<Table<ToolOffer>, "watch">,
): Pick<Table<PackedOffer>, "watch"> {
  return {
    async *watch(prefix, signal) {
      for await (const change of table.watch(prefix, signal)) {
        if (change.kind !== "written") yield change;
        else yield { ...change, row: { ...change.row, record: packOffer(change.row.record) } };
      }
    },
  };
}
