import type { StoredDocument } from "@reeve/contracts/extensions/knowledge";

/** What documents take. */
export interface DocumentUse {
  readonly documents: number;
  /** Bytes of their texts and embeddings. */
  readonly bytes: number;
}

/** The creator of a collection, for whom its documents count. */
export interface CollectionOwner {
  readonly tenant: string;
  readonly subject: string;
}

/** Room for a document that is being stored. Disposing ends it: what was stored then counts by itself. */
export interface HeldRoom extends AsyncDisposable {
  /** Takes room for more bytes. Returns false, and changes nothing, if there is none. */
  extend(bytes: number, signal: AbortSignal): Promise<boolean>;
}

/** The room that the operator gives to collections. */
export interface DocumentRoom {
  /**
   * Takes room for what a collection grows by; what it shrinks by, as a negative number, makes room for extensions. Throws a Failure of kind
   * `exhausted` that says which limit it would exceed.
   */
  hold(owner: CollectionOwner, growth: DocumentUse, signal: AbortSignal): Promise<HeldRoom>;
}

/** What a document counts at least: its record takes room, too. */
const minBytes = 1_024;

/** Room without limits. */
export const unlimitedRoom: DocumentRoom = {
  hold: async () => ({
    extend: async () => true,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }),
};

/** Returns the bytes of the embeddings of a document: one for each value. */
export function vectorBytesIn({ document, vectors }: Omit<StoredDocument, "object">): number {
  return (document?.passageCount ?? 0) * (vectors?.dimensions ?? 0);
}

function countedBytesOf(stored: StoredDocument): number {
  const textBytes = Number(stored.document?.textBytes ?? 0n);
  return Math.max(textBytes, minBytes) + vectorBytesIn(stored);
}

/** Returns what documents take together. */
export function useOf(documents: readonly StoredDocument[]): DocumentUse {
  return {
    documents: documents.length,
    bytes: documents.reduce((sum, each) => sum + countedBytesOf(each), 0),
  };
}
