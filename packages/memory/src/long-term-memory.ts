import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { bucketOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import type { Memory } from "@reeve/contracts/memory";
import { MemorySchema } from "@reeve/contracts/memory";
import { KeyedSemaphore } from "@reeve/platform/async/coordination/keyed-semaphore";
import { IdleTimeout } from "@reeve/platform/async/idle-timeout";
import { Failure } from "@reeve/platform/failure";
import type { Row, Table } from "@reeve/jetstream/table/port";
import { latestFirst, rankMemories, updatedAtMs } from "./rank-memories.ts";

/** The user whose memories these are. */
export interface MemoryOwner {
  readonly tenant: string;
  /** The subject of a credential. It may contain any characters. */
  readonly user: string;
}

const maxTextBytes = 4_096;
/** The latest memories are the ones that a search by words most often misses, and three cost little to read. */
const maxLatest = 3;
const maxAttempts = 10;

const { key: memoryKey } = bucketOf(MemorySchema);

/** Where a memory comes from. */
export interface MemoryOrigin {
  /** The run that stores it; empty when a person does. */
  readonly runId: string;
  /** The id of the request or the call: repeating it changes nothing. Empty when there is none. */
  readonly requestId: string;
}

/** The result of a search: the memories that match, or the latest ones when none matches. */
export interface MemorySearch {
  /** Ordered by relevance, best first. */
  readonly memories: readonly Memory[];
  /** The three latest memories or fewer, latest first, when `memories` is empty; otherwise empty. */
  readonly latest: readonly Memory[];
}

export interface MemoryLimits {
  readonly maxMemories?: number;
  readonly maxWaitMs?: number;
}

/** The long-term memories of users. Each owner sees only their own. */
export class LongTermMemory {
  readonly #table: Table<Memory>;
  readonly #now: () => number;
  readonly #maxMemories: number;
  /** A list reads all memories of an owner: many at once would keep the store from answering anybody. */
  readonly #lists = new KeyedSemaphore({ permits: 16, permitsPerKey: 1, maxWaitingPerKey: 1_000 });

  readonly #maxWaitMs: number;

  /** Keeps at most `maxMemories` memories of each owner. A request waits at most `maxWaitMs` for those before it. */
  constructor(
    table: Table<Memory>,
    now: () => number,
    { maxMemories = 1_000, maxWaitMs = 30_000 }: MemoryLimits = {},
  ) {
    this.#table = table;
    this.#now = now;
    this.#maxMemories = maxMemories;
    this.#maxWaitMs = maxWaitMs;
  }

  /**
   * Stores a text as a memory. The id is derived from the text, so storing the same text again updates the memory instead of
   * creating a second one, and repeating a request changes nothing. Throws a Failure: `invalid` for an empty or too long text,
   * `exhausted` when the owner has the maximum number of memories (none is ever dropped for a new one), `denied` when the owner
   * has no name.
   */
  async remember(
    owner: MemoryOwner,
    text: string,
    origin: MemoryOrigin,
    signal: AbortSignal,
  ): Promise<Memory> {
    // A lone surrogate cannot be stored.
    const wellFormed = text.toWellFormed().trim();
    checkText(wellFormed);
    if (isUnnamed(owner)) throw unnamedOwner();
    const memoryId = idOf(owner, wellFormed);
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const known = await this.#table.get(keyOf(owner, memoryId), signal);
      const memory =
        known === undefined
          ? await this.#create(
              owner,
              create(MemorySchema, { memoryId, text: wellFormed, ...origin }),
              signal,
            )
          : await this.#refresh(known, wellFormed, origin, signal);
      if (memory !== undefined) return memory;
    }
    throw busy(memoryId);
  }

  /** Returns the memories that match a query, best first, or none. */
  async recall(
    owner: MemoryOwner,
    query: string,
    limit: number,
    signal: AbortSignal,
  ): Promise<readonly Memory[]> {
    return (await this.find(owner, query, limit, signal)).memories;
  }

  /** Returns the memories that match a query, or else the latest ones, for a query in other words than those of the memory. */
  async find(
    owner: MemoryOwner,
    query: string,
    limit: number,
    signal: AbortSignal,
  ): Promise<MemorySearch> {
    const all = recordsOf(await this.#rows(owner, signal));
    const ranked = await rankMemories(all, query, this.#now(), signal);
    const latest = ranked.length > 0 ? [] : latestFirst(all).slice(0, Math.min(limit, maxLatest));
    return { memories: ranked.slice(0, limit), latest };
  }

  /** Returns all memories of the owner, the latest first. */
  async list(owner: MemoryOwner, signal: AbortSignal): Promise<readonly Memory[]> {
    return latestFirst(recordsOf(await this.#rows(owner, signal)));
  }

  /** Deletes a memory. Returns false when it does not exist. Of several concurrent callers, exactly one gets true. */
  async forget(owner: MemoryOwner, memoryId: string, signal: AbortSignal): Promise<boolean> {
    if (!validId.test(memoryId) || isUnnamed(owner)) return false;
    const key = keyOf(owner, memoryId);
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const known = await this.#table.get(key, signal);
      if (known === undefined) return false;
      if (await this.#table.deleteVersion(key, known.revision, signal)) return true;
    }
    throw busy(memoryId);
  }

  /** Creates a memory. Returns undefined when another writer has created it. */
  async #create(
    owner: MemoryOwner,
    draft: Memory,
    signal: AbortSignal,
  ): Promise<Memory | undefined> {
    if ((await this.#rows(owner, signal)).length >= this.#maxMemories)
      throw memoryFull(this.#maxMemories);
    const now = timestampFromMs(this.#now());
    const memory = create(MemorySchema, { ...draft, createdAt: now, updatedAt: now });
    const key = keyOf(owner, draft.memoryId);
    const row = await this.#table.create(key, memory, signal);
    if (row === undefined) return undefined;
    // Other writers may have reached the maximum meanwhile; the latest ones are then removed. An old memory that is updated at
    // this moment counts as later than this one, so one memory too many may stay, which does no harm.
    const rows = await this.#rows(owner, signal);
    const before = rows.filter(({ revision }) => revision < row.revision);
    if (before.length < this.#maxMemories) return memory;
    if (await this.#table.deleteVersion(key, row.revision, signal))
      throw memoryFull(this.#maxMemories);
    // Another writer has updated this memory, and knows that it is stored. So it stays.
    return memory;
  }

  /** Updates the time and the wording of a memory. Returns undefined when it was changed meanwhile. */
  async #refresh(
    { key, record, revision }: Row<Memory>,
    text: string,
    { requestId }: MemoryOrigin,
    signal: AbortSignal,
  ): Promise<Memory | undefined> {
    const isRepetition = requestId !== "" && record.requestId === requestId;
    const nowMs = this.#now();
    // Another writer updated it at the same moment, or with a clock that is ahead. The time of a memory never goes back.
    if (isRepetition || updatedAtMs(record) >= nowMs) return record;
    const updatedAt = timestampFromMs(nowMs);
    const memory = create(MemorySchema, { ...record, text, updatedAt, requestId });
    return (await this.#table.update(key, memory, revision, signal)) && memory;
  }

  async #rows(owner: MemoryOwner, signal: AbortSignal): Promise<readonly Row<Memory>[]> {
    if (isUnnamed(owner)) return [];
    const prefix = `${owner.tenant}.${userToken(owner)}`;
    using _ = await this.#turn(prefix, signal);
    return await this.#table.list(prefix, signal);
  }

  /** Waits for the lists before this one. While the store does not answer, each of them takes many seconds to fail. */
  async #turn(prefix: string, signal: AbortSignal): Promise<Disposable> {
    const options = { timeoutMs: this.#maxWaitMs, reason: tooManyRequests };
    using waiting = new IdleTimeout(options, signal);
    const permit = await this.#lists.acquire(prefix, waiting.signal);
    if (permit === undefined) throw tooManyRequests();
    return permit;
  }
}

function recordsOf(rows: readonly Row<Memory>[]): readonly Memory[] {
  return rows.map(({ record }) => record);
}

const validId = /^mem_[a-z0-9]{8,64}$/;

function checkText(text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > 0 && bytes <= maxTextBytes) return;
  throw new Failure(
    "invalid",
    ErrorReason.INVALID_REQUEST,
    `the text of a memory must have 1 to ${maxTextBytes} bytes; this one has ${bytes}`,
    { violations: [{ field: "text", description: `has ${bytes} bytes`, reason: "LENGTH" }] },
  );
}

function memoryFull(maxMemories: number): Failure {
  return new Failure(
    "exhausted",
    ErrorReason.STORAGE_FULL,
    `the user already has ${maxMemories} memories, the maximum, and none is deleted automatically; delete some first`,
  );
}

function tooManyRequests(): Failure {
  return new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    "the user has too many concurrent requests for memories; try again in a few seconds",
  );
}

function busy(memoryId: string): Failure {
  return new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    `memory ${memoryId} is being written by many callers at once; try again`,
  );
}

/** Returns whether the owner has no name. Memories without an owner would belong to all users, so none are stored. */
function isUnnamed({ tenant, user }: MemoryOwner): boolean {
  return tenant === "" || user === "";
}

function unnamedOwner(): Failure {
  return new Failure(
    "denied",
    ErrorReason.PERMISSION_DENIED,
    "the credential names no user to whom the memory could belong; start the run with the credential of a user",
  );
}

function keyOf(owner: MemoryOwner, memory: string): string {
  return memoryKey({ tenant: owner.tenant, user: userToken(owner), memory });
}

/** Returns a token of a key for a user, whose name may have characters that a token cannot. */
function userToken({ user }: MemoryOwner): string {
  return digest("user", user);
}

function idOf({ tenant, user }: MemoryOwner, text: string): string {
  // Not NFKC, which turns m² into m2 and would merge two different facts.
  const normalized = text.normalize("NFC").toLowerCase().replaceAll(/\s+/g, " ");
  return `mem_${digest(tenant, user, normalized)}`;
}

function digest(...parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}
