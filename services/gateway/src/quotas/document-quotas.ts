import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { bucketOf } from "@reeve/contracts/channel";
import type { CollectionRecord } from "@reeve/contracts/extensions/knowledge";
import type { AdmittedDocument, QuotaUsage } from "@reeve/contracts/quota";
import { AdmittedDocumentSchema, QuotaUsageSchema } from "@reeve/contracts/quota";
import type { Table } from "@reeve/jetstream/table/port";
import { busy } from "@reeve/knowledge/documents/document-intake";
import type {
  CollectionOwner,
  DocumentRoom,
  DocumentUse,
  HeldRoom,
} from "@reeve/knowledge/documents/document-room";
import { useOf } from "@reeve/knowledge/documents/document-room";
import { KeyedSemaphore } from "@reeve/platform/async/coordination/keyed-semaphore";
import { Failure } from "@reeve/platform/failure";
import type { Owners, Quota } from "./quota.ts";
import { appliesTo, counterOf, ownersOf } from "./quota.ts";
import type { QuotaCountsOptions } from "./quota-counts.ts";
import { QuotaCounts } from "./quota-counts.ts";
import { collectionBytesAreUsedUp, documentsAreUsedUp } from "./quota-exceeded.ts";

/** Longer than any document takes: what is older is of a gateway that died. */
const idleMs = 600_000;
/** How long the end of a document may take to be written. After that its room counts until it is idle. */
const endMs = 5_000;

export interface DocumentQuotaPorts extends QuotaCountsOptions {
  /** Returns the quotas that are in force. */
  quotas(): readonly Quota[];
  /** Returns what the collections take that a tenant, or some subjects of it, created. Has all that was stored before the call. */
  documentsOf(of: Owners, signal: AbortSignal): Promise<DocumentUse>;
}

const { key: usageKey } = bucketOf(QuotaUsageSchema);

/**
 * Returns a function that returns what the collections take that a tenant, or some subjects of it, created. Two calls read at a time,
 * one of each tenant: each has the records of all documents of the tenant.
 */
export function documentsIn(
  collections: Pick<Table<CollectionRecord>, "list">,
): DocumentQuotaPorts["documentsOf"] {
  const permits = new KeyedSemaphore({ permits: 2, permitsPerKey: 1, maxWaitingPerKey: 1_000 });
  return async ({ tenant, subjects }, signal) => {
    using permit = await permits.acquire(tenant, signal);
    if (permit === undefined) throw busy("a quota of documents waits for too many others");
    const rows = await collections.list(tenant, signal);
    const counted = rows.filter(
      ({ record }) => subjects?.has(record.collection?.createdBy ?? "") !== false,
    );
    return useOf(counted.flatMap(({ record }) => record.documents));
  };
}

/**
 * Gives collections as much room as the quotas of their creators allow. A document holds room in the count before it stores a byte, by
 * compare-and-write, so gateways that race do not store more than a quota allows.
 */
export class DocumentQuotas implements DocumentRoom {
  readonly #ports: DocumentQuotaPorts;
  readonly #counts: QuotaCounts;

  constructor(ports: DocumentQuotaPorts) {
    this.#ports = ports;
    this.#counts = new QuotaCounts(ports);
  }

  /** Throws a Failure with reason QUOTA_EXCEEDED that names the quota. */
  async hold(owner: CollectionOwner, growth: DocumentUse, signal: AbortSignal): Promise<HeldRoom> {
    const applying = this.#ports.quotas().filter((quota) => limitsDocuments(quota, owner));
    const admissionId = randomUUID();
    let held = growth;
    const release = async () => {
      const until = AbortSignal.timeout(endMs);
      for (const quota of applying) {
        // A count that cannot be written forgets the document later.
        await this.#forget(keyOf(quota, owner), admissionId, until).catch(() => undefined);
      }
    };
    const take = async (use: DocumentUse) => {
      for (const quota of applying) await this.#admit(quota, owner, { admissionId, use }, signal);
      held = use;
    };
    await take(growth).catch(async (error: unknown) => {
      await release();
      throw error;
    });
    return {
      extend: async (bytes) => {
        const before = held;
        try {
          await take({ ...before, bytes: before.bytes + bytes });
          return true;
        } catch (error) {
          if (!(error instanceof Failure) || error.kind !== "exhausted") throw error;
          // What one of the quotas has admitted meanwhile.
          await take(before);
          return false;
        }
      },
      [Symbol.asyncDispose]: release,
    };
  }

  async #admit(
    quota: Quota,
    owner: CollectionOwner,
    { admissionId, use }: { readonly admissionId: string; readonly use: DocumentUse },
    signal: AbortSignal,
  ): Promise<void> {
    const documents = Math.max(0, use.documents);
    const bytes = Math.max(0, use.bytes);
    await this.#counts.change(keyOf(quota, owner), signal, async (before) => {
      const nowMs = this.#ports.clock.now();
      const others = before.documents.filter(
        (known) => known.admissionId !== admissionId && isRecent(known, nowMs),
      );
      // After the read of what is being stored: what has left it is in the collections.
      const stored = await this.#ports.documentsOf(ownersOf(quota, owner), signal);
      const held = sumOf(others);
      const { collectionBytes: maxBytes = Infinity, documents: max = Infinity } = quota;
      if (documents > 0 && stored.documents + held.documents + documents > max) {
        throw documentsAreUsedUp(quota, owner, max);
      }
      if (bytes > 0 && stored.bytes + held.bytes + bytes > maxBytes) {
        throw collectionBytesAreUsedUp(quota, owner, maxBytes);
      }
      const time = timestampFromMs(nowMs);
      const admitted = { admissionId, documents, bytes: BigInt(bytes), time };
      return { ...before, documents: [...others, create(AdmittedDocumentSchema, admitted)] };
    });
  }

  async #forget(key: string, admissionId: string, signal: AbortSignal): Promise<void> {
    await this.#counts.change(key, signal, async (before): Promise<QuotaUsage | undefined> => {
      const documents = before.documents.filter((known) => known.admissionId !== admissionId);
      const isKnown = documents.length < before.documents.length;
      return await Promise.resolve(isKnown ? { ...before, documents } : undefined);
    });
  }
}

function limitsDocuments(quota: Quota, owner: CollectionOwner): boolean {
  const { collectionBytes, documents } = quota;
  return (collectionBytes ?? documents) !== undefined && appliesTo(quota, owner);
}

/** Runs change their own count: it would hardly ever stay the same while the collections of a tenant are read. */
function keyOf(quota: Quota, owner: CollectionOwner): string {
  return usageKey({ tenant: owner.tenant, counter: `${counterOf(quota, owner)}=documents` });
}

function isRecent({ time }: AdmittedDocument, nowMs: number): boolean {
  return time !== undefined && timestampMs(time) > nowMs - idleMs;
}

function sumOf(admitted: readonly AdmittedDocument[]): DocumentUse {
  return {
    documents: admitted.reduce((sum, each) => sum + each.documents, 0),
    bytes: admitted.reduce((sum, each) => sum + Number(each.bytes), 0),
  };
}
