import { createHash } from "node:crypto";
import { ErrorReason } from "@reeve/contracts/error";
import type { DocumentOrigin } from "@reeve/contracts/extensions/knowledge";
import { KeyedSemaphore } from "@reeve/platform/async/coordination/keyed-semaphore";
import { Failure } from "@reeve/platform/failure";
import { documentFormat } from "../parse/formats.ts";
import type { ParseDocument } from "../parse/parse-document.ts";
import { assertDocumentFits } from "../records/knowledge-limits.ts";
import { embedDocument, withoutEmbeddings } from "../vectors/embed-document.ts";
import type { Embedder } from "../vectors/embedder.ts";

/** A document to add. */
export interface DocumentDraft {
  readonly name: string;
  /** Empty: that of the ending of the name. */
  readonly mediaType: string;
  /** Returns its bytes. Called when its turn has come, so that waiting documents take no memory. */
  readonly read: (signal: AbortSignal) => Promise<Uint8Array>;
  /** Where it was fetched. Default: it did not come from a URL. */
  readonly fetched?: Fetched;
  /** The object with the text of the version that it replaces. Default: it replaces any version, or none. */
  readonly replaces?: string | undefined;
}

/** Where a document was fetched, and as what. */
export interface Fetched {
  readonly origin: DocumentOrigin;
  /** The bytes as they were fetched: those that are read may be in another encoding. */
  readonly sizeBytes: number;
  readonly sha256: string;
}

export interface IntakeOptions {
  readonly parse: ParseDocument;
  /** Default: none, and only words are searched. */
  readonly embedder?: Embedder | undefined;
}

/** What the client waits for. */
const maxEmbeddedAtOnce = 500;

/** Reads and embeds the documents of tenants, a few at a time. Throws a Failure of kind `unavailable` if too many of a tenant wait. */
export class DocumentIntake {
  readonly #options: IntakeOptions;
  /** Each reader takes memory and a processor. */
  readonly #readers = new KeyedSemaphore({ permits: 1, permitsPerKey: 1, maxWaitingPerKey: 10 });
  /** A document that is embedded is in memory. */
  readonly #embedders = new KeyedSemaphore({ permits: 4, permitsPerKey: 2, maxWaitingPerKey: 0 });

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  async read(
    tenant: string,
    { name, mediaType, read, fetched }: DocumentDraft,
    signal: AbortSignal,
  ) {
    const { format } = documentFormat(name, mediaType);
    using permit = await this.#readers.acquire(tenant, signal);
    if (permit === undefined) throw busy(`document "${name}" waits for too many others`);
    const bytes = await read(signal);
    assertDocumentFits(name, bytes.length);
    return {
      parsed: await this.#options.parse(name, format, bytes, signal),
      sizeBytes: fetched?.sizeBytes ?? bytes.length,
      sha256: fetched?.sha256 ?? createHash("sha256").update(bytes).digest("hex"),
    };
  }

  /** Embeds a document. One that is large, or that would have to wait for others, is embedded in the background. */
  async embed(tenant: string, texts: readonly string[], signal: AbortSignal) {
    const { embedder } = this.#options;
    if (embedder === undefined) return await embedDocument(undefined, texts, signal);
    if (texts.length > maxEmbeddedAtOnce) {
      return withoutEmbeddings(`it has more than ${maxEmbeddedAtOnce} passages`);
    }
    using permit = await this.#embedders.acquire(tenant, signal);
    if (permit === undefined) return withoutEmbeddings("others of the tenant are embedded now");
    return await embedDocument(embedder, texts, signal);
  }
}

/** Returns the Failure of work that waits for other work of its tenant. */
export function busy(problem: string): Failure {
  const message = `${problem} of the tenant; try again later`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, message);
}
