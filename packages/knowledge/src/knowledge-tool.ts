import type { JsonObject } from "@bufbuild/protobuf";
import type { Passage, Retrieval } from "@reeve/contracts/extensions/knowledge";
import { Failure } from "@reeve/platform/failure";
import type { Collections, KnowledgeUser } from "./collections.ts";
import { renderPassages } from "./render-passages.ts";

/** What the model gets from a search, and the passages that it may cite. */
export interface KnowledgeResult {
  readonly content: string;
  readonly isError: boolean;
  readonly citations: Passage[];
  /** How they were found. Undefined: nothing was searched. */
  readonly retrieval?: Retrieval;
}

/** What a call may search, and how large its result may be. */
export interface KnowledgeLimits {
  /** The collections of the run, and of the delegate that calls. */
  readonly known: readonly string[];
  /** Whether others than the user see the result. */
  readonly isShared: boolean;
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
  { known, isShared, maxBytes }: KnowledgeLimits,
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
  const wanted = { collectionIds, query, limit: limitOf(limit), isShared };
  try {
    const { passages, retrieval } = await collections.search(user, wanted, signal);
    const citations = firstFitting(passages, maxBytes);
    return { content: contentOf(passages, citations), isError: false, citations, retrieval };
  } catch (error) {
    if (!(error instanceof Failure) || error.kind === "unavailable") throw error;
    return failure(error.message);
  }
}

function contentOf(found: readonly Passage[], shown: readonly Passage[]): string {
  if (found.length === 0) return "no passage matches the query; try other words";
  if (shown.length === 0) return "passages match, and none fits into the limit of this result";
  return renderPassages(shown);
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
