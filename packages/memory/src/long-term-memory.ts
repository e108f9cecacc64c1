import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { bucketOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import type { Memory } from "@reeve/contracts/memory";
import { MemorySchema } from "@reeve/contracts/memory";
import { Failure } from "@reeve/platform/failure";
import type { Row, Table } from "@reeve/jetstream/table/port";
import { latestFirst, rankMemories, updatedAtMs } from "./rank-memories.ts";

/** Of whom something is remembered. */
export interface MemoryOwner {
  readonly tenant: string;
  /** The subject of a credential, whatever it is made of. */
  readonly user: string;
}

const maxTextBytes = 4_096;
/** What was said last is what words most often fail to find, and three cost little to read. */
const maxLatest = 3;
const maxAttempts = 10;

const { key: memoryKey } = bucketOf(MemorySchema);

/** Who says something. */
export interface MemoryOrigin {
  /** The run that does; empty for a person. */
  readonly runId: string;
  /** Of the request or the call: the same again changes nothing. Empty: there is none. */
  readonly requestId: string;
}

/** What fits a query; when nothing does, the latest instead. */
export interface MemorySearch {
  /** Best first. */
  readonly memories: readonly Memory[];
  /** At most `maxLatest`, the latest first; empty when anything fits. */
  readonly latest: readonly Memory[];
}

/** What is remembered of users. Each owner has memories of their own, and sees no others. */
export class LongTermMemory {
  readonly #table: Table<Memory>;
  readonly #now: () => number;
  readonly #most: number;

  /** At most `most` memories are kept of each owner; 1,000 unless given. */
  constructor(table: Table<Memory>, now: () => number, most = 1_000) {
    this.#table = table;
    this.#now = now;
    this.#most = most;
  }

  /**
   * Remembers a text. Its id follows from the text, so that saying the same again brings the memory up to date and makes no
   * second one, and repeating a request changes nothing. Throws a Failure: `invalid` for an empty or too long text,
   * `exhausted` when the owner has as many memories as are kept (none is ever dropped for a new one), `denied` when the owner
   * is nobody.
   */
  async remember(owner: MemoryOwner, text: string, said: MemoryOrigin, signal: AbortSignal): Promise<Memory> {
    // Half of a pair of surrogates cannot be stored.
    const words = text.toWellFormed().trim();
    checkText(words);
    if (isNobody(owner)) throw nobody();
    const memoryId = idOf(owner, words);
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const known = await this.#table.get(keyOf(owner, memoryId), signal);
      const memory =
        known === undefined
          ? await this.#begin(
              owner,
              create(MemorySchema, { memoryId, text: words, ...said }),
              signal,
            )
          : await this.#sayAgain(known, words, said, signal);
      if (memory !== undefined) return memory;
    }
    throw busy(memoryId);
  }

  /** What fits a query, best first; nothing when nothing does. */
  async recall(
    owner: MemoryOwner,
    query: string,
    limit: number,
    signal: AbortSignal,
  ): Promise<readonly Memory[]> {
    return (await this.find(owner, query, limit, signal)).memories;
  }

  /** What fits a query; when nothing does, the latest, for whoever asks in other words than those that were used. */
  async find(owner: MemoryOwner, query: string, limit: number, signal: AbortSignal): Promise<MemorySearch> {
    const all = recordsOf(await this.#rows(owner, signal));
    const ranked = await rankMemories(all, query, this.#now(), signal);
    const latest = ranked.length > 0 ? [] : latestFirst(all).slice(0, Math.min(limit, maxLatest));
    return { memories: ranked.slice(0, limit), latest };
  }

  /** Everything, the latest first. */
  async list(owner: MemoryOwner, signal: AbortSignal): Promise<readonly Memory[]> {
    return latestFirst(recordsOf(await this.#rows(owner, signal)));
  }

  /** False: nothing of this id is remembered. Of several who ask at once, one is told that it was. */
  async forget(owner: MemoryOwner, memoryId: string, signal: AbortSignal): Promise<boolean> {
    if (!possibleId.test(memoryId) || isNobody(owner)) return false;
    const key = keyOf(owner, memoryId);
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const known = await this.#table.get(key, signal);
      if (known === undefined) return false;
      if (await this.#table.deleteVersion(key, known.revision, signal)) return true;
    }
    throw busy(memoryId);
  }

  /** Undefined: somebody else began the same memory. */
  async #begin(owner: MemoryOwner, draft: Memory, signal: AbortSignal): Promise<Memory | undefined> {
    if ((await this.#rows(owner, signal)).length >= this.#most) throw full(this.#most);
    const now = timestampFromMs(this.#now());
    const memory = create(MemorySchema, { ...draft, createdAt: now, updatedAt: now });
    const key = keyOf(owner, draft.memoryId);
    const row = await this.#table.create(key, memory, signal);
    if (row === undefined) return undefined;
    // Others may have taken the last places meanwhile: whoever came too late goes. An old memory that is said again at this
    // moment counts as later than this one, so that one too many may stay; that does no harm.
    const rows = await this.#rows(owner, signal);
    const before = rows.filter(({ revision }) => revision < row.revision);
    if (before.length < this.#most) return memory;
    if (await this.#table.deleteVersion(key, row.revision, signal)) throw full(this.#most);
    // Somebody who said the same was told that it is remembered.
    return memory;
  }

  /** Undefined: it was changed meanwhile. */
  async #sayAgain(
    { key, record, revision }: Row<Memory>,
    text: string,
    { requestId }: MemoryOrigin,
    signal: AbortSignal,
  ): Promise<Memory | undefined> {
    const isRepetition = requestId !== "" && record.requestId === requestId;
    const nowMs = this.#now();
    // Somebody said it at the same moment, or by a clock that is ahead: the time of a memory does not go back.
    if (isRepetition || updatedAtMs(record) >= nowMs) return record;
    const updatedAt = timestampFromMs(nowMs);
    const memory = create(MemorySchema, { ...record, text, updatedAt, requestId });
    return (await this.#table.update(key, memory, revision, signal)) && memory;
  }

  async #rows(owner: MemoryOwner, signal: AbortSignal): Promise<readonly Row<Memory>[]> {
    if (isNobody(owner)) return [];
    return await this.#table.list(`${owner.tenant}.${userToken(owner)}`, signal);
  }
}

function recordsOf(rows: readonly Row<Memory>[]): readonly Memory[] {
  return rows.map(({ record }) => record);
}

const possibleId = /^mem_[a-z0-9]{8,64}$/;

function checkText(text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > 0 && bytes <= maxTextBytes) return;
  throw new Failure(
    "invalid",
    ErrorReason.INVALID_REQUEST,
    `a memory has 1 to ${maxTextBytes} bytes; this one has ${bytes}`,
    { violations: [{ field: "text", description: `has ${bytes} bytes`, reason: "LENGTH" }] },
  );
}

function full(most: number): Failure {
  return new Failure(
    "exhausted",
    ErrorReason.STORAGE_FULL,
    `${most} memories of a user are kept and no more, and none is dropped by itself; forget some first`,
  );
}

function busy(memoryId: string): Failure {
  return new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    `memory ${memoryId} is written to without a pause; try again`,
  );
}

/** Nothing is remembered of nobody: it would be everybody's. */
function isNobody({ tenant, user }: MemoryOwner): boolean {
  return tenant === "" || user === "";
}

function nobody(): Failure {
  return new Failure(
    "denied",
    ErrorReason.PERMISSION_DENIED,
    "nobody is named of whom this could be remembered; start the run with the credential of a user",
  );
}

function keyOf(owner: MemoryOwner, memory: string): string {
  return memoryKey({ tenant: owner.tenant, user: userToken(owner), memory });
}

/** A subject may hold any character; a token of a key may not. */
function userToken({ user }: MemoryOwner): string {
  return digest("user", user);
}

function idOf({ tenant, user }: MemoryOwner, text: string): string {
  // Not NFKC, for which m² is m2: two facts would be one.
  const same = text.normalize("NFC").toLowerCase().replaceAll(/\s+/g, " ");
  return `mem_${digest(tenant, user, same)}`;
}

function digest(...parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}
