import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { Artifact } from "@reeve/contracts/artifact";
import { bucketOf } from "@reeve/contracts/channel";
import type { AdmittedUpload } from "@reeve/contracts/quota";
import { AdmittedUploadSchema, QuotaUsageSchema } from "@reeve/contracts/quota";
import { Failure } from "@reeve/platform/failure";
import { storeUnavailable } from "@reeve/platform/nats/store-unavailable";
import type { Principal } from "@reeve/platform/rpc/principal";
import type { Owners, Quota } from "./quota.ts";
import { appliesTo, counterOf, ownersOf } from "./quota.ts";
import { bytesAreUsedUp, tooManyUploads } from "./quota-exceeded.ts";
import type { QuotaCountsOptions } from "./quota-counts.ts";
import { QuotaCounts } from "./quota-counts.ts";

/** After how long without a word its gateway counts as dead, and how often an upload in progress says so. */
const idleMs = 600_000;
const renewMs = 60_000;
/** How many bytes an upload asks for in advance, after its first chunk. */
const blockBytes = 4 * 1024 * 1024;
/** How many uploads of one count may be in progress, and how many of one subject. */
const maxUploads = 1_000;
export const maxUploadsOfSubject = 100;
/** What an artifact without bytes, or with few, counts: its description takes room too. */
const minArtifactBytes = 1_024;
/** How long the end of an upload may take to be written. After that its bytes count until it is idle. */
const endMs = 5_000;

export interface ArtifactQuotaPorts extends QuotaCountsOptions {
  /** Returns the quotas that are in force. */
  quotas(): readonly Quota[];
  /** Returns how many bytes of artifacts a tenant, or some subjects of it, have. Has all that were stored before the call. */
  bytesOf(of: Owners, signal: AbortSignal): Promise<number>;
}

/** Returns what an artifact counts. */
export function countedBytesOf(sizeBytes: number): number {
  return Math.max(sizeBytes, minArtifactBytes);
}

const { key: usageKey } = bucketOf(QuotaUsageSchema);

/**
 * Admits uploads up to the quotas of their principal. Each upload holds room in the count before it stores a byte, by
 * compare-and-write, so gateways that race do not store more than a quota allows.
 */
export class ArtifactQuotas {
  readonly #ports: ArtifactQuotaPorts;
  readonly #counts: QuotaCounts;

  constructor(ports: ArtifactQuotaPorts) {
    this.#ports = ports;
    this.#counts = new QuotaCounts(ports);
  }

  /** Stores `content` with `put`. Throws a Failure with reason QUOTA_EXCEEDED that names the quota. */
  async store(
    principal: Principal,
    content: AsyncIterable<Uint8Array>,
    put: (content: AsyncIterable<Uint8Array>) => Promise<Artifact>,
    signal: AbortSignal,
  ): Promise<Artifact> {
    const applying = this.#ports
      .quotas()
      .filter((quota) => quota.artifactBytes !== undefined && appliesTo(quota, principal));
    if (applying.length === 0) return await put(content);
    const uploadId = randomUUID();
    try {
      return await put(this.#counted({ uploadId, principal, applying }, content, signal));
    } finally {
      // What is stored is in the index now. A count that cannot be written forgets the upload later.
      const until = AbortSignal.timeout(endMs);
      for (const quota of applying) {
        await this.#forget(quota, principal, uploadId, until).catch(() => undefined);
      }
    }
  }

  async *#counted(
    upload: Upload,
    content: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): AsyncIterable<Uint8Array> {
    let received = 0;
    let reserved = 0;
    let atMs = -Infinity;
    const counted = () => countedBytesOf(received);
    const isCurrent = () => counted() <= reserved && this.#ports.clock.now() - atMs < renewMs;
    for await (const chunk of content) {
      received += chunk.length;
      if (!isCurrent()) {
        reserved = await this.#reserve(upload, counted(), reserved === 0, signal);
        atMs = this.#ports.clock.now();
      }
      yield chunk;
    }
    if (!isCurrent()) await this.#reserve(upload, counted(), true, signal);
  }

  /** Returns how many bytes are reserved: more than `bytes` if there is room, unless `isExact`. */
  async #reserve(
    upload: Upload,
    bytes: number,
    isExact: boolean,
    signal: AbortSignal,
  ): Promise<number> {
    if (isExact) return await this.#hold(upload, bytes, signal);
    try {
      return await this.#hold(upload, bytes + blockBytes, signal);
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== "exhausted") throw error;
      return await this.#hold(upload, bytes, signal);
    }
  }

  async #hold(
    { uploadId, principal, applying }: Upload,
    bytes: number,
    signal: AbortSignal,
  ): Promise<number> {
    for (const quota of applying) {
      const { artifactBytes: max = Infinity } = quota;
      await this.#counts.change(keyOf(quota, principal), signal, async (before) => {
        const nowMs = this.#ports.clock.now();
        const others = before.uploads.filter(
          (known) => known.uploadId !== uploadId && isRecent(known, nowMs),
        );
        if (others.length >= maxUploads) {
          throw storeUnavailable(new Error(`${maxUploads} uploads are in progress`));
        }
        const { subject } = principal;
        if (others.filter((known) => known.subject === subject).length >= maxUploadsOfSubject) {
          throw tooManyUploads(quota, principal, maxUploadsOfSubject);
        }
        // After the read of the uploads in progress: what has left them is in the index.
        const stored = await this.#ports.bytesOf(ownersOf(quota, principal), signal);
        const held = others.reduce((sum, known) => sum + Number(known.bytes), 0);
        if (stored + held + bytes > max) throw bytesAreUsedUp(quota, principal, max);
        const time = timestampFromMs(nowMs);
        const upload = create(AdmittedUploadSchema, {
          uploadId,
          bytes: BigInt(bytes),
          time,
          subject,
        });
        return { ...before, uploads: [...others, upload] };
      });
    }
    return bytes;
  }

  async #forget(
    quota: Quota,
    principal: Principal,
    uploadId: string,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#counts.change(keyOf(quota, principal), signal, async (before) => {
      const uploads = before.uploads.filter((known) => known.uploadId !== uploadId);
      const isKnown = uploads.length < before.uploads.length;
      return await Promise.resolve(isKnown ? { ...before, uploads } : undefined);
    });
  }
}

interface Upload {
  readonly uploadId: string;
  readonly principal: Principal;
  readonly applying: readonly Quota[];
}

function keyOf(quota: Quota, principal: Principal): string {
  return usageKey({ tenant: principal.tenant, counter: counterOf(quota, principal) });
}

function isRecent({ time }: AdmittedUpload, nowMs: number): boolean {
  return time !== undefined && timestampMs(time) > nowMs - idleMs;
}
