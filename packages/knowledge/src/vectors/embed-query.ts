import type { CollectionRecord } from "@reeve/contracts/extensions/knowledge";
import type { Row } from "@reeve/jetstream/table/port";
import { endCharacters } from "@reeve/memory/words-of";
import { Failure } from "@reeve/platform/failure";
import { embedTexts } from "./embed-texts.ts";
import type { Embedder } from "./embedder.ts";

/** The vector of a query, or why there is none. */
export interface EmbeddedQuery {
  /** Undefined: only words are searched. */
  readonly vector: Int8Array | undefined;
  /** Empty: nothing was embedded. */
  readonly model: string;
  readonly tokens: number;
  readonly costUsd: number | undefined;
  readonly warning: string | undefined;
}

/** A search waits for its passages, and has words without an answer. */
const maxWaitMs = 10_000;

const none: EmbeddedQuery = {
  vector: undefined,
  model: "",
  tokens: 0,
  costUsd: undefined,
  warning: undefined,
};

/**
 * Embeds a query for collections of which at least one has vectors of the embedder's model. Whatever fails is a warning, not an
 * exception. Rejects if the signal aborts.
 */
export async function embedQuery(
  embedder: Embedder | undefined,
  rows: readonly Row<CollectionRecord>[],
  query: string,
  signal: AbortSignal,
): Promise<EmbeddedQuery> {
  if (embedder === undefined || query.trim() === "") return none;
  const documents = rows.flatMap(({ record }) => record.documents);
  if (documents.length === 0) return none;
  if (!documents.some(({ vectors }) => vectors?.model === embedder.model)) {
    const warning = `the documents have no embeddings of ${embedder.model} yet, and are found by their words only`;
    return { ...none, warning };
  }
  try {
    const text = [endsOf(query)];
    const embedded = await embedTexts(embedder, text, { signal, maxWaitMs });
    return { ...embedded, vector: embedded.values, warning: undefined };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Failure)) throw error;
    return { ...none, warning: `only words were searched: ${error.message}` };
  }
}

/** Models embed a limited number of tokens. The question comes before or after the text that it is about. */
function endsOf(query: string): string {
  if (query.length <= 2 * endCharacters) return query.toWellFormed();
  return `${query.slice(0, endCharacters)}\n${query.slice(-endCharacters)}`.toWellFormed();
}
