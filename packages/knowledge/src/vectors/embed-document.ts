import { Failure } from "@reeve/platform/failure";
import type { EmbeddedTexts } from "./embed-texts.ts";
import { embedTexts } from "./embed-texts.ts";
import type { Embedder } from "./embedder.ts";

/** The client waits for the document. */
const maxWaitMs = 60_000;

/** Embeds the passages of a document. Whatever fails is a warning, not an exception. Rejects if the signal aborts. */
export async function embedDocument(
  embedder: Embedder | undefined,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<{
  readonly embedded: EmbeddedTexts | undefined;
  readonly warnings: readonly string[];
}> {
  if (embedder === undefined) return { embedded: undefined, warnings: [] };
  const limit = AbortSignal.timeout(maxWaitMs);
  try {
    const until = AbortSignal.any([signal, limit]);
    const embedded = await embedTexts(embedder, texts, { signal: until });
    const { refused } = embedded;
    const warning = `${embedder.model} refuses ${refused} of ${texts.length} passages, which are found by their words only`;
    return { embedded, warnings: refused === 0 ? [] : [warning] };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Failure) && !limit.aborted) throw error;
    const problem = limit.aborted
      ? `${embedder.model} took longer than ${maxWaitMs / 1_000} seconds`
      : String(error instanceof Error ? error.message : error);
    return withoutEmbeddings(problem);
  }
}

/** Returns what a document has that is embedded later. */
export function withoutEmbeddings(problem: string) {
  const warning = `the document has no embeddings yet, and is found by its words only: ${problem}`;
  return { embedded: undefined, warnings: [warning] };
}
