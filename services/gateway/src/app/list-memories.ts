import { toBinary } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Memory } from "@reeve/contracts/memory";
import { MemorySchema } from "@reeve/contracts/memory";
import type { LongTermMemory, MemoryOwner } from "@reeve/memory/long-term-memory";
import type { Page, PageRequest } from "@reeve/jetstream/table/page";
import { pageOf } from "@reeve/jetstream/table/page";

/** Returns a page of a user's memories, latest first. A memory that is deleted between two pages hides no other memory. */
export async function listMemories(
  memory: LongTermMemory,
  owner: MemoryOwner,
  page: PageRequest,
  signal: AbortSignal,
): Promise<Page<Memory>> {
  const memories = (await memory.list(owner, signal)).toSorted((a, b) =>
    keyOf(a) < keyOf(b) ? 1 : -1,
  );
  return pageOf(
    memories,
    page,
    keyOf,
    (key, previous) => key < previous,
    (memory) => toBinary(MemorySchema, memory).length,
  );
}

function keyOf({ updatedAt, memoryId }: Memory): string {
  const ms = updatedAt === undefined ? 0 : timestampMs(updatedAt);
  return `${String(ms).padStart(15, "0")}.${memoryId}`;
}
