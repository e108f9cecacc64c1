import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { ErrorReason } from "@reeve/contracts/error";
import type { MemoryService } from "@reeve/contracts/memory";
import type { MemoryOwner } from "@reeve/memory/long-term-memory";
import { Failure } from "@reeve/platform/failure";
import { noteEffect } from "@reeve/platform/rpc/outcome/call-effect";
import { principalOf } from "@reeve/platform/rpc/principal";
import type { GatewayPorts } from "../app/gateway-ports.ts";
import { listMemories } from "../app/list-memories.ts";

const defaultLimit = 10;

/** Returns the handlers of MemoryService. */
export function memoryService({
  memory,
  assertRoom,
}: Pick<GatewayPorts, "memory" | "assertRoom">): ServiceImpl<typeof MemoryService> {
  return {
    createMemory: async ({ text, requestId }, context) => {
      assertRoom();
      const source = { runId: "", requestId };
      return { memory: await memory.remember(ownerOf(context), text, source, context.signal) };
    },
    listMemories: async (request, context) => {
      const owner = ownerOf(context);
      const { items, nextPageToken } = await listMemories(memory, owner, request, context.signal);
      return { memories: [...items], nextPageToken };
    },
    recallMemories: async ({ query, limit }, context) => {
      const maxMemories = limit === 0 ? defaultLimit : limit;
      const found = await memory.find(ownerOf(context), query, maxMemories, context.signal);
      return { memories: [...found.memories], latest: [...found.latest] };
    },
    deleteMemory: async ({ memoryId }, context) => {
      if (await memory.forget(ownerOf(context), memoryId, context.signal)) {
        noteEffect(context);
        return {};
      }
      throw new Failure(
        "not_found",
        ErrorReason.MEMORY_NOT_FOUND,
        `memory ${memoryId} not found; list the memories for their ids`,
        { metadata: { memory_id: memoryId } },
      );
    },
  };
}

function ownerOf(context: HandlerContext): MemoryOwner {
  const { tenant, subject } = principalOf(context);
  return { tenant, user: subject };
}
