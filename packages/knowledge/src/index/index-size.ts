import type { CollectionRecord, StoredDocument } from "@reeve/contracts/extensions/knowledge";

/** What an empty index takes in memory. */
export const ownBytes = 160 * 1_024;
/** What a passage adds beside its text, and what each byte of text adds. */
const bytesPerPassage = 400;
const bytesPerTextByte = 7;
/** The length of each vector is kept beside it. */
const bytesPerLength = 4;

/** Returns about the memory that the index of a text takes. */
export function bytesOfText(textBytes: number, passages: number): number {
  return bytesPerTextByte * textBytes + bytesPerPassage * passages;
}

/** Returns about the memory that the index of a document takes, with its vectors. */
function bytesOfDocument({ document, vectors }: StoredDocument): number {
  const passages = document?.passageCount ?? 0;
  const perVector = vectors === undefined ? 0 : vectors.dimensions + bytesPerLength;
  return bytesOfText(Number(document?.textBytes ?? 0n), passages) + passages * perVector;
}

/** Returns about the memory that the index of a collection takes. */
export function bytesOf({ documents }: Pick<CollectionRecord, "documents">): number {
  return documents.reduce((sum, each) => sum + bytesOfDocument(each), ownBytes);
}
