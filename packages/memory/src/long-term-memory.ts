import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { bucketOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import type { Memory } from "@reeve/contracts/memory";
import { MemorySchema } from "@reeve/contracts/memory";
import { Failure } from "@reeve/platform/failure";
import type { Table } from "@reeve/store/table";
import { latestFirst, rankMemories } from "./rank-memories.ts";

/** Of whom something is remembered. */
export interface Owner {
  readonly tenant: string;
  /** The subject of a credential, whatever it is made of. */
  readonly user: string;
}

export const mostMemories = 1_000;
export const mostTextBytes = 4_096;
const mostAttempts = 10;

const { key: memoryKey } = bucketOf(MemorySchema);

/** What is remembered of users. Each owner has memories of their own, and sees no others. */
export class LongTermMemory {
  readonly #table: Table<Memory>;
  readonly #now: () => number;

  constructor(table: Table<Memory>, now: () => number) {
    this.#table = table;
    this.#now = now;
  }

  /**
   * Remembers a text. Its id follows from the text, so that saying the same again, or repeating a call, brings the memory
   * up to date and makes no second one. Throws a Failure: `invalid` for an empty or too long text, `exhausted` when the
   * owner has as many memories as are kept; none is ever dropped for a new one.
   */
  async remember(owner: Owner, text: string, runId: string, signal: AbortSignal): Promise<Memory> {
    const words = text.trim();
    checkText(words);
    const memoryId = idOf(owner, words);
    const key = keyOf(owner, memoryId);
    for (let attempt = 0; attempt < mostAttempts; attempt++) {
      const now = timestampFromMs(this.#now());
      const known = await this.#table.get(key, signal);
      if (known !== undefined) {
        const memory = create(MemorySchema, { ...known.record, updatedAt: now });
        if ((await this.#table.update(key, memory, known.revision, signal)) !== undefined) {
          return memory;
        }
        continue;
      }
      if ((await this.#all(owner, signal)).length >= mostMemories) throw full();
      const memory = create(MemorySchema, {
        memoryId,
        text: words,
        createdAt: now,
        updatedAt: now,
        runId,
      });
      if ((await this.#table.create(key, memory, signal)) !== undefined) return memory;
    }
    throw new Failure(
      "unavailable",
      ErrorReason.UNAVAILABLE,
      `memory ${memoryId} is written to without a pause; try again`,
    );
  }

  /** What fits a query, best first; nothing when nothing does. */
  async recall(
    owner: Owner,
    query: string,
    limit: number,
    signal: AbortSignal,
  ): Promise<readonly Memory[]> {
    return rankMemories(await this.#all(owner, signal), query, this.#now()).slice(0, limit);
  }

  /** Everything, the latest first. */
  async list(owner: Owner, signal: AbortSignal): Promise<readonly Memory[]> {
    return latestFirst(await this.#all(owner, signal));
  }

  /** False: nothing of this id is remembered. */
  async forget(owner: Owner, memoryId: string, signal: AbortSignal): Promise<boolean> {
    if (!possibleId.test(memoryId)) return false;
    const key = keyOf(owner, memoryId);
    if ((await this.#table.get(key, signal)) === undefined) return false;
    await this.#table.delete(key, signal);
    return true;
  }

  async #all(owner: Owner, signal: AbortSignal): Promise<readonly Memory[]> {
    const rows = await this.#table.list(`${owner.tenant}.${userToken(owner)}`, signal);
    return rows.map(({ record }) => record);
  }
}

const possibleId = /^mem_[a-z0-9]{8,64}$/;

function checkText(text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes > 0 && bytes <= mostTextBytes) return;
  throw new Failure(
    "invalid",
    ErrorReason.INVALID_REQUEST,
    `a memory has 1 to ${mostTextBytes} bytes; this one has ${bytes}`,
    { violations: [{ field: "text", description: `has ${bytes} bytes`, reason: "LENGTH" }] },
  );
}

function full(): Failure {
  return new Failure(
    "exhausted",
    ErrorReason.STORAGE_FULL,
    `${mostMemories} memories are kept and no more; forget some first`,
  );
}

function keyOf(owner: Owner, memory: string): string {
  return memoryKey({ tenant: owner.tenant, user: userToken(owner), memory });
}

/** A subject may hold any character; a token of a key may not. */
function userToken({ user }: Owner): string {
  return digest("user", user);
}

function idOf({ tenant, user }: Owner, text: string): string {
  const same = text.normalize("NFKC").toLowerCase().replaceAll(/\s+/g, " ");
  return `mem_${digest(tenant, user, same)}`;
}

function digest(...parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}
