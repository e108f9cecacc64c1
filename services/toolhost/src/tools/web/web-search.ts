import type { CallContext, Tool } from "@reeve/calls/ports/tool";
import { PermissionClass, ToolCategory } from "@reeve/contracts/tool";
import type { Logger } from "@reeve/platform/telemetry/logger";
import type { CallEgress, HostEgress } from "@reeve/sandbox/network/host-egress";
import { builtinDescriptor, stringOf } from "../builtin/builtin-descriptor.ts";
import { withTimeLimit } from "./call-egress.ts";
import { jsonBody } from "./json-body.ts";
import { decode } from "@reeve/sandbox/network/web/media-type";
import { readBody } from "@reeve/sandbox/network/web/read-body";
import type { SearchEngine, SearchResult } from "./search/search-engine.ts";
import { webRequest } from "@reeve/sandbox/network/web/web-request";

const defaultTimeoutMs = 15_000;
const defaultCount = 5;
const maxCount = 20;
const maxAnswerBytes = 1_000_000;
const maxTitleChars = 300;
const maxUrlChars = 2_048;
const maxSnippetChars = 1_000;

export interface WebSearchOptions {
  readonly engine: SearchEngine;
  /** Must permit the search engine, which is the only host that a call reaches. */
  readonly egress: HostEgress;
  readonly log: Pick<Logger, "warn">;
  /** Default: 15 seconds. */
  readonly timeoutMs?: number;
}

/**
 * Searches the web. The address of the search engine, and what its connections say, are for the operator: the log has them, and no
 * result does.
 */
export function webSearch({
  engine,
  egress,
  log,
  timeoutMs = defaultTimeoutMs,
}: WebSearchOptions): Tool {
  return {
    descriptor: builtinDescriptor({
      name: "web_search",
      description: "Searches the web. Returns the title, the URL, and a snippet of each result.",
      category: ToolCategory.GENERAL,
      permissionClass: PermissionClass.NETWORK,
      properties: {
        query: { type: "string", minLength: 1, maxLength: 400, description: "What to search for." },
        count: {
          type: "integer",
          minimum: 1,
          maximum: maxCount,
          description: `How many results. Default: ${defaultCount}.`,
        },
      },
      required: ["query"],
      idempotent: true,
    }),
    async call({ args, runId, callId }: CallContext, signal) {
      const query = stringOf(args["query"]);
      const count = typeof args["count"] === "number" ? args["count"] : defaultCount;
      await using network = egress.open({ allow: [searchHost(engine)], runId, callId });
      const found =
        (await withTimeLimit(timeoutMs, signal, (bounded) =>
          searched(engine, { network, query, count }, bounded),
        )) ?? failed("it does not answer in time");
      if (found.kind === "failed") {
        const { problem, detail } = found;
        log.warn({ runId, callId, problem, detail }, "search engine gave no results");
        return { content: `the search engine cannot be used: ${problem}`, isError: true };
      }
      const structured = { results: found.results.map((each) => ({ ...each })) };
      return { content: JSON.stringify(structured), structured, isError: false };
    },
  };
}

/** Returns the only host that searches reach, as an entry of a list of reachable hosts. */
export function searchHost({ baseUrl: { hostname, port, protocol } }: SearchEngine): string {
  const standard = protocol === "https:" ? 443 : 80;
  return `${hostname}:${port === "" ? standard : port}`;
}

interface Search {
  readonly network: CallEgress;
  readonly query: string;
  readonly count: number;
}

type Found =
  | { readonly kind: "found"; readonly results: readonly SearchResult[] }
  | {
      readonly kind: "failed";
      /** What the model reads. */
      readonly problem: string;
      /** What only the log has. Default: nothing more. */
      readonly detail?: string | undefined;
    };

async function searched(
  engine: SearchEngine,
  { network, query, count }: Search,
  signal: AbortSignal,
): Promise<Found> {
  const request = { method: "GET", ...engine.requestFor(query, count) };
  const answer = await webRequest(network, request, signal);
  if (answer.kind === "failed") return failed("it cannot be reached", answer.reason);
  const { statusCode: status = 0 } = answer.response;
  const body = await readBody(answer.response, signal, maxAnswerBytes);
  if (status !== 200) return failed(`it answers with the status ${status}`);
  if (body.kind === "failed") return failed("its answer cannot be read", body.reason);
  const results = engine.resultsOf(jsonBody(decode(body.bytes), maxAnswerBytes));
  if (results === undefined) return failed("its answer is not of the configured API");
  return { kind: "found", results: results.filter(hasShortUrl).slice(0, count).map(shortened) };
}

/** Part of a URL leads elsewhere, so a result with a URL that is too long is left out. */
function hasShortUrl({ url }: SearchResult): boolean {
  return url.length <= maxUrlChars;
}

function shortened({ title, url, snippet }: SearchResult): SearchResult {
  return { title: part(title, maxTitleChars), url, snippet: part(snippet, maxSnippetChars) };
}

/** Returns the beginning of a text, without half a character at its end. */
function part(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars).toWellFormed()}…`;
}

function failed(problem: string, detail?: string): Found {
  return { kind: "failed", problem, detail };
}
