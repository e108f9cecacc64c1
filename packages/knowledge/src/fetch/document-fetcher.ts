import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { ErrorReason } from "@reeve/contracts/error";
import type { DocumentOrigin } from "@reeve/contracts/extensions/knowledge";
import { DocumentOriginSchema } from "@reeve/contracts/extensions/knowledge";
import { abortable } from "@reeve/platform/async/abortable";
import { Failure } from "@reeve/platform/failure";
import type { HostEgress } from "@reeve/sandbox/network/host-egress";
import { readBody } from "@reeve/sandbox/network/web/read-body";
import { webRequest } from "@reeve/sandbox/network/web/web-request";
import type { Fetched } from "../documents/document-intake.ts";
import { mediaTypeOfName } from "../parse/formats.ts";
import { maxDocumentBytes } from "../records/knowledge-limits.ts";
import { contentTypeOf, inUtf8 } from "./content-type.ts";
import type { FetchTurn } from "./fetch-permits.ts";
import { FetchPermits } from "./fetch-permits.ts";

/** A document on the web. */
export interface DocumentAddress {
  readonly tenant: string;
  readonly url: string;
  /** The media type that its user names. Empty: that of the response. */
  readonly mediaType: string;
  /** What the server said of the version that is known. Default: none is. */
  readonly known?: DocumentOrigin | undefined;
}

/** What its server gave. */
export type FetchedDocument =
  | { readonly kind: "unchanged" }
  | {
      readonly kind: "fetched";
      readonly mediaType: string;
      /** Its bytes; those of a text in UTF-8. */
      readonly bytes: Uint8Array;
      readonly fetched: Fetched;
    };

export interface FetcherOptions {
  /** Undefined: the operator permits no host. */
  readonly egress: Pick<HostEgress, "openPermitted"> | undefined;
  /** How long a document may take, with its redirects. Default: 60 seconds. */
  readonly maxDurationMs?: number;
}

const maxValidatorCharacters = 512;
const accept =
  "text/html, application/pdf, application/vnd.openxmlformats-officedocument.wordprocessingml.document, text/*;q=0.9, */*;q=0.1";

/**
 * Fetches documents over https, from the hosts that the operator permits. Each redirect is a connection that the same rules permit or
 * refuse; none leaves https. No credentials are sent.
 */
export class DocumentFetcher {
  readonly #egress: FetcherOptions["egress"];
  readonly #maxDurationMs: number;
  readonly #permits = new FetchPermits();

  constructor({ egress, maxDurationMs = 60_000 }: FetcherOptions) {
    this.#egress = egress;
    this.#maxDurationMs = maxDurationMs;
  }

  /**
   * Calls `use` with a document. Throws a Failure with reason DOCUMENT_UNREACHABLE if the URL cannot be fetched, one with reason
   * DOCUMENT_TOO_LARGE if it is larger than 32 MiB, and one of kind `unavailable` if too many others of its tenant wait.
   */
  async fetch<Result>(
    address: DocumentAddress,
    use: (fetched: FetchedDocument) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    const url = secureUrl(address.url);
    // Until the document is stored: it is in memory.
    using turn = await this.#permits.acquire(address.tenant, url, signal);
    let found = await this.#fetched(url, address, turn, signal);
    if (found === undefined) {
      await turn.untilRoom(signal);
      found = await this.#fetched(url, address, turn, signal);
    }
    if (found === undefined) throw tooLarge(url);
    return await use(found);
  }

  /** Returns undefined if the document is large, and too many others are. */
  async #fetched(
    url: URL,
    { tenant, known, mediaType }: DocumentAddress,
    turn: FetchTurn,
    signal: AbortSignal,
  ): Promise<FetchedDocument | undefined> {
    if (this.#egress === undefined) {
      throw unreachable(
        url,
        "no host is permitted; the operator names hosts in REEVE_NETWORK_ALLOW of the gateway",
      );
    }
    await using network = this.#egress.openPermitted({
      runId: "",
      callId: `document of ${tenant}`,
    });
    const limit = AbortSignal.timeout(this.#maxDurationMs);
    const bounded = AbortSignal.any([signal, limit]);
    try {
      const request = { url, method: "GET", headers: { accept, ...conditionsOf(known) } };
      const answer = await abortable(webRequest(network, request, bounded), bounded);
      if (answer.kind === "failed") throw unreachable(url, answer.reason);
      const { statusCode = 0, headers } = answer.response;
      if (statusCode === 304 && known !== undefined) {
        answer.response.destroy();
        return { kind: "unchanged" };
      }
      if (statusCode !== 200) {
        answer.response.destroy();
        throw unreachable(url, `${answer.url.origin} answers ${statusCode}`);
      }
      let isRefused = false;
      const hasRoom = (size: number) => {
        isRefused = !turn.hasRoom(size);
        return !isRefused;
      };
      const reading = readBody(answer.response, bounded, maxDocumentBytes, hasRoom);
      const body = await abortable(reading, bounded);
      if (isRefused) return undefined;
      if (body.kind === "failed" && body.isTooLarge) throw tooLarge(url);
      if (body.kind === "failed") throw unreachable(url, body.reason);
      const { bytes } = body;
      const found = contentTypeOf(bytes, headers["content-type"]);
      const origin = create(DocumentOriginSchema, {
        url: url.href,
        etag: shortened(headers.etag),
        lastModified: shortened(headers["last-modified"]),
        mediaType,
      });
      return {
        kind: "fetched",
        mediaType: mediaType === "" ? typeOf(found.mediaType, answer.url) : mediaType,
        bytes: inUtf8(bytes, found.charset),
        fetched: {
          origin,
          sizeBytes: bytes.length,
          sha256: createHash("sha256").update(bytes).digest("hex"),
        },
      };
    } catch (error) {
      signal.throwIfAborted();
      if (!limit.aborted) throw error;
      throw unreachable(url, `it took longer than ${this.#maxDurationMs / 1_000} seconds`);
    }
  }
}

/** The headers for a document that is only sent if it has changed. */
function conditionsOf(known: DocumentOrigin | undefined): Record<string, string> {
  return {
    ...(known?.etag ? { "if-none-match": known.etag } : {}),
    ...(known?.lastModified ? { "if-modified-since": known.lastModified } : {}),
  };
}

/** Returns a URL without its fragment. Throws a Failure if it is not one of https. */
function secureUrl(text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol === "https:" && url.username === "" && url.password === "") {
    url.hash = "";
    return url;
  }
  const description =
    "is no URL of https without user name and password, such as https://example.org/a.pdf";
  throw new Failure("invalid", ErrorReason.INVALID_REQUEST, `url ${description}`, {
    violations: [{ field: "url", description, reason: "MALFORMED" }],
  });
}

/** Returns the media type of a document whose server says nothing of it: that of the ending of its path. */
function typeOf(mediaType: string, { pathname }: URL): string {
  return mediaType === "" ? mediaTypeOfName(pathname) : mediaType;
}

function shortened(header: string | undefined = ""): string {
  return header.length > maxValidatorCharacters ? "" : header;
}

function unreachable(url: URL, problem: string): Failure {
  const message = `the document at ${shownUrl(url)} was not fetched: ${problem}`;
  return new Failure("precondition", ErrorReason.DOCUMENT_UNREACHABLE, message);
}

function tooLarge(url: URL): Failure {
  const message = `the document at ${shownUrl(url)} has more than ${maxDocumentBytes} bytes; divide it into smaller ones`;
  return new Failure("exhausted", ErrorReason.DOCUMENT_TOO_LARGE, message);
}

/** Returns a URL for messages, which are often logged: without its query, which may have a secret. */
function shownUrl({ origin, pathname }: URL): string {
  return `${origin}${pathname}`.slice(0, 300);
}
