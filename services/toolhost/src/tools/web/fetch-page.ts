import type { CallResult, Tool } from "@reeve/calls/ports/tool";
import { PermissionClass, ToolCategory } from "@reeve/contracts/tool";
import type { HostEgress } from "@reeve/sandbox/network/host-egress";
import { builtinDescriptor, stringOf } from "../builtin/builtin-descriptor.ts";
import { callEgress, withTimeLimit } from "./call-egress.ts";
import { decode, mediaTypeOf, textOf } from "@reeve/sandbox/network/web/media-type";
import type { MediaType } from "@reeve/sandbox/network/web/media-type";
import type { PageReaders } from "./page/page-readers.ts";
import type { PageSource } from "./page/page-text.ts";
import type { ReadPage } from "./page/read-page.ts";
import { readBody } from "@reeve/sandbox/network/web/read-body";
import { webRequest } from "@reeve/sandbox/network/web/web-request";

const timeoutMs = 45_000;
const maxHtmlBytes = 1_000_000;
const maxTextBytes = 100_000;
/** What a result has besides the text. */
const frameBytes = 1_000;
const minPartChars = 1_000;
/** A document names its charset within its first bytes. */
const metaBytes = 1_024;

/** Reads the text of a web page on a host that the agent may reach. */
export function fetchPage(egress: HostEgress, readers: PageReaders): Tool {
  return {
    descriptor: builtinDescriptor({
      name: "fetch_page",
      description:
        "Returns the readable text of a web page or PDF as Markdown, from a host that this agent may reach. " +
        "Continue a long text with the offset that the result names.",
      category: ToolCategory.GENERAL,
      permissionClass: PermissionClass.NETWORK,
      properties: {
        url: { type: "string", minLength: 1, maxLength: 8_192, description: "http or https URL." },
        offset: { type: "integer", minimum: 0, description: "Where to continue. Default: 0." },
      },
      required: ["url"],
      idempotent: true,
    }),
    async call(context, signal) {
      const { args, settings } = context;
      const url = URL.parse(stringOf(args["url"]));
      if (url === null) return refused(`url: "${stringOf(args["url"])}" is not a valid URL`);
      const offset = typeof args["offset"] === "number" ? args["offset"] : 0;
      await using network = callEgress(egress, context);
      const fetched = await withTimeLimit(timeoutMs, signal, async (bounded) => {
        const accept = "text/html, application/pdf, text/*;q=0.9, */*;q=0.1";
        const request = { url, method: "GET", headers: { accept } };
        const answer = await webRequest(network, request, bounded);
        if (answer.kind === "failed") return answer;
        const { statusCode: status = 0, headers } = answer.response;
        const body = await readBody(answer.response, bounded);
        if (body.kind === "failed") return body;
        const { href } = answer.url;
        if (status !== 200) return { kind: "failed", reason: `${href} has the status ${status}` };
        const page = { url: href, ...mediaTypeOf(headers["content-type"]), bytes: body.bytes };
        const source = sourceOf(page);
        if (source.kind === "read" || source.kind === "failed") return { url: href, ...source };
        return { url: href, ...(await readers.read(source, context, bounded)) };
      });
      if (fetched === undefined) return refused(`it took longer than ${timeoutMs / 1_000} s`);
      if (!("url" in fetched) || fetched.kind === "failed") return refused(fetched.reason);
      return partOf(fetched, offset, Math.min(maxTextBytes, settings.resultBytes - frameBytes));
    },
  };
}

interface Download extends MediaType {
  readonly url: string;
  readonly bytes: Uint8Array;
}

/** Returns what a reader reads of a document, or the text of one that needs no reader. */
function sourceOf({ url, bytes, ...mediaType }: Download): PageSource | ReadPage {
  const { type, charset } = mediaType;
  if (type === "application/pdf") return { kind: "pdf", bytes };
  if (type === "text/html" || type === "application/xhtml+xml") {
    return bytes.length > maxHtmlBytes
      ? { kind: "failed", reason: `${url} has more than ${maxHtmlBytes} bytes of HTML` }
      : { kind: "html", html: decode(bytes, charset ?? charsetIn(bytes)), url };
  }
  const text = textOf(bytes, mediaType);
  return text === undefined
    ? { kind: "failed", reason: `${url} is of the type ${type || "unknown"}, which has no text` }
    : { kind: "read", title: "", text };
}

/** Returns the charset that an HTML document names. */
function charsetIn(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, metaBytes)).toString("latin1");
  return /<meta[^>]+charset=["']?([\w-]+)/i.exec(start)?.[1];
}

interface Page {
  readonly url: string;
  readonly title: string;
  readonly text: string;
}

/** Returns the part of a text at an offset in UTF-16 code units, with at most so many bytes. */
function partOf({ url, title, text }: Page, offset: number, maxBytes: number): CallResult {
  if (offset > 0 && offset >= text.length) {
    return refused(`offset: the text has only ${text.length} characters`);
  }
  let part = text.slice(offset, offset + Math.max(maxBytes, minPartChars));
  while (Buffer.byteLength(part) > maxBytes && part.length > minPartChars) {
    part = part.slice(0, Math.max(minPartChars, Math.floor(part.length * 0.9)));
  }
  const end = offset + part.length;
  const isWhole = end >= text.length;
  const structured = {
    url,
    title,
    text: part,
    total_chars: text.length,
    ...(!isWhole && { next_offset: end }),
  };
  const more = isWhole ? "" : `\n\n[${text.length - end} characters follow: offset ${end}]`;
  const head = [title, url].filter(Boolean).join("\n");
  return { content: `${head}\n\n${part}${more}`, structured, isError: false };
}

function refused(content: string): CallResult {
  return { content, isError: true };
}
