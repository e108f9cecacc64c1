import type { DocumentText } from "@reeve/contracts/extensions/knowledge";

/** Reads what is stored of documents. Undefined: it was removed. */
export interface ReadObjects {
  text(object: string, signal: AbortSignal): Promise<DocumentText | undefined>;
  vectors(object: string, signal: AbortSignal): Promise<Int8Array | undefined>;
}
