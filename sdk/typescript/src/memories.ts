import { randomUUID } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { CreateMemoryRequestSchema, Memory, RecallMemoriesResponse } from "#contracts/memory";
import { MemorySchema } from "#contracts/memory";
import type { CallOptions, ListOptions } from "./call-options.ts";
import type { Requests } from "./requests.ts";

/** What runs with memory remember about the user. */
export class Memories {
  readonly #requests: Requests;

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  /** Stores a memory. The same `requestId` stores it only once. Default: a new id. */
  async add(
    request: MessageInitShape<typeof CreateMemoryRequestSchema>,
    options: CallOptions = {},
  ): Promise<Memory> {
    const message = { ...request, requestId: request.requestId || randomUUID() };
    const { memory } = await this.#requests.repeatable(
      ({ memories }, call) => memories.createMemory(message, call),
      options,
    );
    return memory ?? create(MemorySchema);
  }

  /** Lists memories, newest first. */
  list(options: ListOptions = {}): AsyncGenerator<Memory, void, undefined> {
    return this.#requests.list(async ({ memories }, page, call) => {
      const { memories: items, nextPageToken } = await memories.listMemories(page, call);
      return { items, nextPageToken };
    }, options);
  }

  /** Returns the memories that a run would recall for an input, best match first. `limit` is 10 by default, at most 100. */
  async search(query: string, options: ListOptions = {}): Promise<RecallMemoriesResponse> {
    const request = { query, limit: options.limit ?? 0 };
    return await this.#requests.repeatable(
      ({ memories }, call) => memories.recallMemories(request, call),
      options,
    );
  }

  /** Deletes a memory. Not repeated if the connection breaks. */
  async delete(memoryId: string, options: CallOptions = {}): Promise<void> {
    await this.#requests.once(
      ({ memories }, call) => memories.deleteMemory({ memoryId }, call),
      options,
    );
  }
}
