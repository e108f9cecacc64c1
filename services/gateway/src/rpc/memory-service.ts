import type { ServiceImpl } from "@connectrpc/connect";
import type { HandlerContext } from "@connectrpc/connect";
import { ErrorReason } from "@reeve/contracts/error";
import type { MemoryService } from "@reeve/contracts/memory";
import type { LongTermMemory, Owner } from "@reeve/memory/long-term-memory";
import { Failure } from "@reeve/platform/failure";
import { principalOf } from "@reeve/platform/principal";
import { pageOf } from "@reeve/store/page";

const usualLimit = 10;

export function memoryService(memory: LongTermMemory): ServiceImpl<typeof MemoryService> {
  return {
    createMemory: async ({ text }, context) => ({
      memory: await memory.remember(ownerOf(context), text, "", context.signal),
    }),
    listMemories: async (request, context) => {
      const memories = await memory.list(ownerOf(context), context.signal);
      const numbered = memories.map((item, index) => ({ item, place: placeOf(index) }));
      const { items, nextPageToken } = pageOf(
        numbered,
        request,
        ({ place }) => place,
        (own, previous) => own > previous,
      );
      return { memories: items.map(({ item }) => item), nextPageToken };
    },
    recallMemories: async ({ query, limit }, context) => {
      const most = limit === 0 ? usualLimit : limit;
      const found = await memory.recall(ownerOf(context), query, most, context.signal);
      return { memories: [...found] };
    },
    deleteMemory: async ({ memoryId }, context) => {
      if (await memory.forget(ownerOf(context), memoryId, context.signal)) return {};
      throw new Failure(
        "not_found",
        ErrorReason.MEMORY_NOT_FOUND,
        `nothing is remembered as ${memoryId}`,
        { metadata: { memory_id: memoryId } },
      );
    },
  };
}

function ownerOf(context: HandlerContext): Owner {
  const { tenant, subject } = principalOf(context);
  return { tenant, user: subject };
}

function placeOf(index: number): string {
  return String(index).padStart(10, "0");
}
