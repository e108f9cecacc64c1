import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { chunk, done, usageChunk } from "./model-answers.ts";

/** A request to a played model. */
export interface Asked {
  /** The system prompt. */
  readonly system: string;
  readonly messages: readonly AskedMessage[];
  /** Names of the offered tools. */
  readonly tools: readonly string[];
}

export interface AskedMessage {
  readonly role: string;
  /** All its text parts. */
  readonly text: string;
}

/** The answer of a played model. With `fails`, the provider refuses with that status. */
export interface Played {
  /** The reasoning before its text. */
  readonly reasoning?: string;
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly args: object }[];
  /** Why it stops. Absent: `tool_calls` with calls, and `stop` without. */
  readonly finish?: string;
  /** The pause after each word. Absent: the whole answer is sent at once. */
  readonly paceMs?: number;
  readonly inputTokens?: number;
  readonly fails?: {
    readonly status: number;
    readonly message: string;
    /** When the client may retry, in milliseconds. */
    readonly retryAfterMs?: number;
  };
  /** Whether the answer starts and never ends. */
  readonly hangs?: boolean;
  /** Whether the connection is closed after the answer has started. */
  readonly breaks?: boolean;
}

export interface PlayingServer extends AsyncDisposable {
  /** The base URL for a client: ends in `/v1`. */
  readonly url: string;
  /** All requests, in order. */
  readonly asked: readonly Asked[];
  /** The number of unfinished answers with a connected client. */
  readonly speaking: number;
}

/** The image that the server generates for every prompt: a PNG of one pixel, in Base64. */
const onePixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/** Starts an OpenAI-compatible server on loopback whose models a test plays. */
export async function startPlayingServer(
  play: (asked: Asked) => Played | Promise<Played>,
): Promise<PlayingServer> {
  const all: Asked[] = [];
  let speaking = 0;
  const server = createServer((request, response) => {
    void (async () => {
      let body = "";
      for await (const piece of request) body += String(piece);
      if (request.url?.endsWith("/images/generations") === true) {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify({ data: [{ b64_json: onePixel }] }));
        return;
      }
      const asked = askedOf(JSON.parse(body));
      all.push(asked);
      const played = await play(asked);
      if (played.fails !== undefined) {
        const { status, message, retryAfterMs } = played.fails;
        response.writeHead(status, {
          "content-type": "application/json",
          ...(retryAfterMs !== undefined && { "retry-after-ms": String(retryAfterMs) }),
        });
        response.end(JSON.stringify({ error: { message } }));
        return;
      }
      speaking += 1;
      response.once("close", () => (speaking -= 1));
      response.writeHead(200, { "content-type": "text/event-stream" });
      if (played.paceMs !== undefined) return streamSlowly(response, played, played.paceMs);
      if (played.hangs === true) response.write(beginningOf(played));
      else if (played.breaks === true) {
        response.write(beginningOf(played), () => response.destroy());
      } else response.end(streamOf(played));
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A TCP listener has an address and a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    asked: all,
    get speaking() {
      return speaking;
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Body {
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

function askedOf(body: Body): Asked {
  const messages = body.messages.map(({ role, content }) => ({ role, text: textOf(content) }));
  return {
    system: messages.find(({ role }) => role === "system")?.text ?? "",
    messages: messages.filter(({ role }) => role !== "system"),
    tools: (body.tools ?? []).map((tool) => tool.function.name),
  };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const parts: readonly { readonly text?: string }[] = content;
  return parts.map(({ text = "" }) => text).join("\n");
}

function beginningOf({ reasoning = "", text = "" }: Played): string {
  const words = text.match(/\S+\s*|\s+/gu) ?? [];
  const thought = reasoning === "" ? [] : [chunk({ reasoning_content: reasoning })];
  return [
    chunk({ role: "assistant", content: "" }),
    ...thought,
    ...words.map((content) => chunk({ content })),
  ].join("");
}

function streamOf({ calls = [], inputTokens = 10, finish, ...spoken }: Played): string {
  return [
    beginningOf(spoken),
    ...calls.map(({ name, args }, index) =>
      chunk({
        tool_calls: [
          {
            index,
            id: `call_${index}`,
            type: "function",
            function: { name, arguments: JSON.stringify(args) },
          },
        ],
      }),
    ),
    chunk({}, finish ?? (calls.length > 0 ? "tool_calls" : "stop")),
    usageChunk(inputTokens, 10),
    done,
  ].join("");
}

/** Stops when the client disconnects. */
async function streamSlowly(response: ServerResponse, played: Played, paceMs: number) {
  for (const piece of streamOf(played).split(/(?<=\n\n)/u)) {
    if (response.closed) return;
    response.write(piece);
    await wait(paceMs);
  }
  response.end();
}
