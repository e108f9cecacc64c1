import type { JsonObject } from "@bufbuild/protobuf";
import type { Passage } from "@reeve/contracts/extensions/knowledge";
import { Failure } from "@reeve/platform/failure";
import type { Collections, KnowledgeUser } from "./collections.ts";
import { renderPassages } from "./render-passages.ts";

/** What the model gets from a search, and the passages that it may cite. */
export interface KnowledgeResult {
  readonly content: string;
  readonly isError: boolean;
  readonly citations: Passage[];
}

/** What a call may search, and how large its result may be. */
export interface KnowledgeLimits {
  /** The collections of the run. */
  readonly known: readonly string[];
  readonly maxBytes: number;
}

const defaultLimit = 5;
const maxLimit = 20;

/**
 * Executes a call of `search_knowledge` in the collections of a run. Repeating a call is harmless. A mistake of the model is a result
 * too; a Failure of kind `unavailable` is thrown, so that the call can be repeated.
 */
export async function searchKnowledge(
  collections: Pick<Collections, "search">,
  user: KnowledgeUser,
  { known, maxBytes }: KnowledgeLimits,
  args: JsonObject,
  signal: AbortSignal,
): Promise<KnowledgeResult> {
  const { query, collection, limit } = args;
  if (typeof query !== "string" || query.trim() === "") return failure("query has no words");
  const named = typeof collection === "string" && collection !== "" ? collection : undefined;
  if (named !== undefined && !known.includes(named)) {
    return failure(`no collection "${named.slice(0, 100)}"; the collections: ${known.join(", ")}`);
  }
  const collectionIds = named === undefined ? known : [named];
  const wanted = { collectionIds, query, limit: limitOf(limit) };
  try {
    const found = await collections.search(user, wanted, signal);
    const citations = firstFitting(found, maxBytes);
    const content =
      found.length === 0
        ? "no passage has a word of the query; try other words"
        : renderPassages(citations);
    return { content, isError: false, citations };
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === "unavailable") throw error;
    return failure(error.message);
  }
}

/** Returns the first passages that fit into a result. */
function firstFitting(passages: readonly Passage[], maxBytes: number): Passage[] {
  for (let count = passages.length; count > 0; count--) {
    const first = passages.slice(0, count);
    if (Buffer.byteLength(renderPassages(first)) <= maxBytes) return first;
  }
  return [];
}

function limitOf(value: JsonObject[string] | undefined): number {
  if (typeof value !== "number") return defaultLimit;
  return Math.min(Math.max(Math.trunc(value), 1), maxLimit);
}

function failure(content: string): KnowledgeResult {
  return { content, isError: true, citations: [] };
}
