import { validateHeaderName, validateHeaderValue } from "node:http";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { CallResult, Tool } from "@reeve/calls/ports/tool";
import { PermissionClass, ToolCategory } from "@reeve/contracts/tool";
import { reservedHeaders } from "@reeve/sandbox/network/forward-with-secrets";
import type { CallEgress, HostEgress } from "@reeve/sandbox/network/host-egress";
import { builtinDescriptor, stringOf } from "../builtin/builtin-descriptor.ts";
import { callEgress, withTimeLimit } from "./call-egress.ts";
import { jsonBody } from "./json-body.ts";
import { isJson, mediaTypeOf, textOf } from "@reeve/sandbox/network/web/media-type";
import { readBody } from "@reeve/sandbox/network/web/read-body";
import type { WebRequest } from "@reeve/sandbox/network/web/redirected-request";
import { webRequest } from "@reeve/sandbox/network/web/web-request";

const defaultTimeoutMs = 30_000;
const maxRequestBytes = 1_000_000;
/** A longer text becomes a file, as other bodies do: the result would have it twice. */
const maxTextBytes = 1_000_000;

/** Sends one HTTP request to a host that the agent may reach. `timeoutMs` limits it with its redirects and its body. */
export function httpRequest(egress: HostEgress, timeoutMs: number = defaultTimeoutMs): Tool {
  return {
    descriptor: builtinDescriptor({
      name: "http_request",
      description:
        "Sends an HTTP request to a host that this agent may reach. Returns the status, the headers, and the body: JSON or text; " +
        "anything else, and a long text, becomes a file. Credentials of the deployment are added for their hosts; do not send your own there.",
      category: ToolCategory.GENERAL,
      permissionClass: PermissionClass.NETWORK,
      properties: {
        method: {
          type: "string",
          enum: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
          description: "Default: GET.",
        },
        url: { type: "string", minLength: 1, maxLength: 8_192, description: "http or https URL." },
        headers: {
          type: "object",
          additionalProperties: { type: "string", maxLength: 8_192 },
          maxProperties: 50,
          description: "Headers of the request.",
        },
        body: {
          type: ["string", "object", "array"],
          description: "Text, or a JSON value, which is sent as application/json.",
        },
      },
      required: ["url"],
    }),
    async call(context, signal) {
      const request = requestOf(context.args);
      if (typeof request === "string") return refused(request);
      await using network = callEgress(egress, context);
      const result = await withTimeLimit(timeoutMs, signal, (bounded) =>
        exchange(network, request, bounded),
      );
      return result ?? refused(`the request took longer than ${timeoutMs / 1_000} s`);
    },
  };
}

/** Returns the request that the arguments describe, or what is wrong with them. */
function requestOf(args: JsonObject): WebRequest | string {
  const url = URL.parse(stringOf(args["url"]));
  if (url === null) return `url: "${stringOf(args["url"])}" is not a valid URL`;
  const headers: Record<string, string> = {};
  for (const [written, value] of Object.entries(asObject(args["headers"]))) {
    const name = written.toLowerCase();
    if (reservedHeaders.has(name) || name.startsWith("proxy-")) {
      return `headers: the header ${written} cannot be set`;
    }
    try {
      validateHeaderName(name);
      validateHeaderValue(name, stringOf(value));
    } catch {
      return `headers: the header ${JSON.stringify(written)} has an invalid name or value`;
    }
    headers[name] = stringOf(value);
  }
  const method = stringOf(args["method"]) || "GET";
  const { body } = args;
  if (body === undefined) return { url, method, headers };
  if (method === "GET" || method === "HEAD") return `body: a ${method} request has none`;
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  if (bytes.length > maxRequestBytes) return `body: it has more than ${maxRequestBytes} bytes`;
  const type = typeof body === "string" ? "text/plain; charset=utf-8" : "application/json";
  return { url, method, headers: { "content-type": type, ...headers }, body: bytes };
}

async function exchange(
  network: CallEgress,
  request: WebRequest,
  signal: AbortSignal,
): Promise<CallResult> {
  const answer = await webRequest(network, request, signal);
  if (answer.kind === "failed") return refused(answer.reason);
  const { url, response } = answer;
  const read = await readBody(response, signal);
  if (read.kind === "failed") return refused(`${url.href}: ${read.reason}`);
  const { bytes } = read;
  const { statusCode: status = 0 } = response;
  const mediaType = mediaTypeOf(response.headers["content-type"]);
  const text = bytes.length > maxTextBytes ? undefined : textOf(bytes, mediaType);
  const hasFile = text === undefined && bytes.length > 0;
  const structured: JsonObject = {
    url: url.href,
    status,
    headers: headersOf(response.headers),
    ...(text !== undefined && { body: isJson(mediaType) ? jsonBody(text) : text }),
    ...(hasFile && { file: "body" }),
  };
  return {
    content: JSON.stringify(structured),
    structured,
    isError: status >= 400,
    ...(hasFile && {
      attachments: [
        { label: "body", mediaType: mediaType.type || "application/octet-stream", bytes },
      ],
    }),
  };
}

/** Returns the headers of a response without cookies, which give access to the session of the client. */
function headersOf(headers: NodeJS.Dict<string | string[]>): JsonObject {
  const shown = Object.entries(headers).filter(([name]) => name !== "set-cookie");
  return Object.fromEntries(shown.map(([name, value]) => [name, String(value)]));
}

function asObject(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

function refused(content: string): CallResult {
  return { content, isError: true };
}
