import type { JsonObject } from "@bufbuild/protobuf";
import { Failure } from "@reeve/platform/failure";
import type { LongTermMemory, Owner } from "./long-term-memory.ts";

/** A call of an agent for its long-term memory. */
export interface MemoryCall {
  /** `remember`, `recall` or `forget`. */
  readonly name: string;
  /** Arguments that hold to the schema of the tool. */
  readonly args: JsonObject;
  readonly runId: string;
}

const usualLimit = 5;

/** Carries out a call, and gives what the model reads. Made again, it does the same. What is wrong with it is a result too. */
export async function callMemory(
  memory: LongTermMemory,
  owner: Owner,
  { name, args, runId }: MemoryCall,
  signal: AbortSignal,
): Promise<{ readonly content: string; readonly isError: boolean }> {
  try {
    switch (name) {
      case "remember": {
        const { memoryId } = await memory.remember(owner, textOf(args["text"]), runId, signal);
        return done(`remembered as ${memoryId}`);
      }
      case "recall": {
        const limit = typeof args["limit"] === "number" ? args["limit"] : usualLimit;
        const found = await memory.recall(owner, textOf(args["query"]), limit, signal);
        return done(
          JSON.stringify(found.map(({ memoryId, text }) => ({ memory_id: memoryId, text }))),
        );
      }
      case "forget": {
        const memoryId = textOf(args["memory_id"]);
        return (await memory.forget(owner, memoryId, signal))
          ? done(`${memoryId} is forgotten`)
          : failed(`nothing is remembered as "${memoryId}"`);
      }
      default:
        return failed(`the memory has no tool ${name}`);
    }
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === "unavailable") throw error;
    return failed(error.message);
  }
}

function done(content: string) {
  return { content, isError: false };
}

function failed(content: string) {
  return { content, isError: true };
}

function textOf(value: JsonObject[string] | undefined): string {
  return typeof value === "string" ? value : "";
}
