import { Buffer } from "node:buffer";
import { once } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { CompletionRequest } from "./model-answers.ts";
import { answerFor, chunk, done, tokens } from "./model-answers.ts";

/**
 * An OpenAI-compatible model server without latency. It sends the next programmed response, or without one the answer that the
 * model's name selects: `text:N`, `tool-once`, `tool-chain:N`, `tool-fan:N` (see `answerFor`), or `paced:N:MS` (N tokens, MS
 * milliseconds between two). Programmed responses also work for the Responses API and for Anthropic's Messages API, whose
 * clients use the base URL without `/v1`.
 */
export interface ModelServer extends AsyncDisposable {
  /** The base URL for a client: ends in `/v1`. */
  readonly url: string;
  readonly port: number;
  /** The requests so far, in order. Empty if it does not record. */
  readonly requests: readonly SeenRequest[];
  /** Sets the responses for the next requests, one each. */
  program(...responses: readonly ProgrammedResponse[]): void;
  /** Resolves with the request of this number, from 1, once it arrives. */
  request(number: number): Promise<SeenRequest>;
}

export interface SeenRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Identifies the connection. */
  readonly clientPort: number;
  readonly body: CompletionRequest & Readonly<Record<string, unknown>>;
  /** Whether the whole answer was sent, or the connection was closed before. */
  readonly ended: Promise<"whole" | "cut">;
}

export interface ProgrammedResponse {
  /** Default 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Strings and bytes are written unchanged; promises are awaited. */
  readonly body?: readonly (string | Uint8Array | Promise<void>)[];
  /** Whether status and headers are sent only with the first text. Default false. */
  readonly holdsHeaders?: boolean;
  /** `cut` closes the connection in the middle of the answer. Default `whole`. */
  readonly end?: "whole" | "cut";
}

export interface ModelServerOptions {
  /** Default: any free port. */
  readonly port?: number;
  /** Whether requests are recorded. Default true. */
  readonly record?: boolean;
  readonly responses?: readonly ProgrammedResponse[];
}

const completions = "/v1/chat/completions";
const paths: ReadonlySet<string> = new Set([
  completions,
  "/v1/responses",
  "/v1/messages",
  "/v1/messages/count_tokens",
]);
const eventStream = { "content-type": "text/event-stream" };

/** Starts a server on loopback. Disposal closes every connection. */
export async function startModelServer({
  port = 0,
  record = true,
  responses = [],
}: ModelServerOptions = {}): Promise<ModelServer> {
  const programmed = [...responses];
  const requests: SeenRequest[] = [];
  const awaited = new Map<number, PromiseWithResolvers<SeenRequest>>();
  const ending = new AbortController();
  const server = createServer((request, response) => {
    // Some tests disconnect in the middle of an answer.
    response.on("error", () => undefined);
    answer(request, response).catch(() => response.destroy());
  });
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const text = await bodyOf(request);
    const path = request.url ?? "";
    if (request.method !== "POST" || !paths.has(path)) {
      return refuse(response, 404, "not_found", `no ${request.method} ${request.url}`);
    }
    // Only tests and benchmarks send requests, so their content is trusted.
    const body = JSON.parse(text) as SeenRequest["body"];
    if (record) {
      const seen = {
        path,
        headers: request.headers,
        clientPort: request.socket.remotePort ?? 0,
        body,
        ended: endOf(response),
      };
      requests.push(seen);
      awaited.get(requests.length)?.resolve(seen);
    }
    const next = programmed.shift();
    if (next !== undefined) return play(next, response);
    if (path !== completions) return refuse(response, 404, "not_found", `nothing for ${path}`);
    if (body.stream !== true) return refuse(response, 400, "invalid", "only streams are served");
    const ready = answerFor(body);
    if (ready !== undefined) return void response.writeHead(200, eventStream).end(ready);
    const paced = /^paced:(\d+):(\d+)$/.exec(body.model);
    if (paced !== null) {
      return playPaced(Number(paced[1]), Number(paced[2]), response, ending.signal);
    }
    return refuse(response, 404, "model_not_found", `no model ${body.model}`);
  };
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  // A TCP listener has an address and a port.
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}/v1`,
    port: address.port,
    requests,
    program: (...more) => void programmed.push(...more),
    async request(number) {
      const seen = requests[number - 1];
      if (seen !== undefined) return seen;
      const waiting = awaited.get(number) ?? Promise.withResolvers<SeenRequest>();
      awaited.set(number, waiting);
      return waiting.promise;
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}

async function endOf(response: ServerResponse): Promise<"whole" | "cut"> {
  const { promise, resolve } = Promise.withResolvers<"whole" | "cut">();
  response.once("close", () => resolve(response.writableFinished ? "whole" : "cut"));
  return promise;
}

function refuse(response: ServerResponse, status: number, code: string, message: string): void {
  const error = { message, type: "invalid_request_error", param: null, code };
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify({ error }));
}

async function play(
  { status = 200, headers = eventStream, body = [], ...rest }: ProgrammedResponse,
  response: ServerResponse,
): Promise<void> {
  response.writeHead(status, headers);
  if (rest.holdsHeaders !== true) response.flushHeaders();
  for (const piece of body) {
    if (piece instanceof Promise) await piece;
    else await written(response, piece);
  }
  if (rest.end === "cut") response.destroy();
  else response.end();
}

/** Writes and waits until the data has left the process, so that cutting the connection cannot discard it. */
async function written(response: ServerResponse, piece: string | Uint8Array): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  response.write(piece, () => resolve());
  await promise;
}

async function playPaced(
  count: number,
  paceMs: number,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  response.writeHead(200, eventStream);
  for (const content of tokens(count)) {
    response.write(chunk({ content }));
    await setTimeout(paceMs, undefined, { signal });
    if (response.destroyed) return;
  }
  response.end(chunk({}, "stop") + done);
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { port: { type: "string", default: "0" } } });
  const { url } = await startModelServer({ port: Number(values.port), record: false });
  process.stdout.write(`${url}\n`);
}
