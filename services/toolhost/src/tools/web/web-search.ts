import type { CallContext, CallResult, Tool } from "@reeve/calls/ports/tool";
import { PermissionClass, ToolCategory } from "@reeve/contracts/tool";
import type { CallEgress, HostEgress } from "@reeve/sandbox/network/host-egress";
import { builtinDescriptor, stringOf } from "../builtin/builtin-descriptor.ts";
import { withTimeLimit } from "./call-egress.ts";
import { decode } from "./media-type.ts";
import { readBody } from "./read-body.ts";
import type { SearchEngine } from "./search/search-engine.ts";
import { webRequest } from "./web-request.ts";

const defaultTimeoutMs = 15_000;
const defaultCount = 5;
const maxCount = 20;
const maxAnswerBytes = 2_000_000;

/** Searches the web. `egress` must permit the search engine, which is the only host that a call reaches. */
export function webSearch(
  engine: SearchEngine,
  egress: HostEgress,
  timeoutMs: number = defaultTimeoutMs,
): Tool {
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
      const result = await withTimeLimit(timeoutMs, signal, (bounded) =>
        searched(engine, { network, query, count }, bounded),
      );
      return result ?? failed(`it took longer than ${timeoutMs / 1_000} s`);
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

async function searched(
  engine: SearchEngine,
  { network, query, count }: Search,
  signal: AbortSignal,
): Promise<CallResult> {
  const request = { method: "GET", ...engine.requestFor(query, count) };
  const answer = await webRequest(network, request, signal);
  if (answer.kind === "failed") return failed(answer.reason);
  const { statusCode: status = 0 } = answer.response;
  const body = await readBody(answer.response, signal, maxAnswerBytes);
  if (status !== 200) return failed(`it answers with the status ${status}`);
  if (body.kind === "failed") return failed(body.reason);
  const results = engine.resultsOf(parsed(decode(body.bytes)))?.slice(0, count);
  if (results === undefined) return failed("its answer is not of the configured API");
  const structured = { results: results.map((each) => ({ ...each })) };
  return { content: JSON.stringify(structured), structured, isError: false };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function failed(reason: string): CallResult {
  return { content: `the search engine cannot be used: ${reason}`, isError: true };
}
