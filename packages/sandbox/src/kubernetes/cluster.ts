import { once } from "node:events";
import type { ClientRequest, IncomingMessage } from "node:http";
import { request as plainRequest } from "node:http";
import type { RequestOptions } from "node:https";
import { request as secureRequest } from "node:https";
import { StringDecoder } from "node:string_decoder";
import type { KubeConfig } from "@kubernetes/client-node";
import type { ClusterRequest } from "./cluster-failure.ts";
import { refusal, unreachable } from "./cluster-failure.ts";

const answerMs = 15_000;
const pingMs = 4_000;
const maxAnswerBytes = 16 * 2 ** 20;

/** One event of a watch. */
export interface WatchEvent {
  readonly type: string;
  readonly object: unknown;
}

/**
 * A client for the part of the Kubernetes API that sandboxes need, with the credentials of a KubeConfig. Methods throw a
 * Failure if the API server refuses.
 *
 * The client library supplies credentials only. Its watch cannot be aborted while it connects and loses the text of a
 * refusal, and its REST client does not limit the size of answers.
 */
export class Cluster {
  readonly namespace: string;
  readonly server: string;
  readonly #config: KubeConfig;

  constructor(config: KubeConfig, namespace: string) {
    this.#config = config;
    this.namespace = namespace;
    this.server = config.getCurrentCluster()?.server ?? "";
  }

  /** Checks reachability with a short timeout. Throws a Failure if the API server does not answer. */
  async ping(signal: AbortSignal): Promise<void> {
    await this.request({ method: "GET", path: "/version" }, signal, pingMs);
  }

  /** Sends a request and returns the parsed answer; undefined if it is empty. */
  async request(
    request: ClusterRequest,
    signal: AbortSignal,
    timeoutMs = answerMs,
  ): Promise<unknown> {
    const until = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    let body = "";
    try {
      const response = await this.#send(request, until);
      for await (const chunk of response as AsyncIterable<Buffer>) {
        body += chunk.toString("utf8");
        if (body.length > maxAnswerBytes) throw new Error("the answer is too long");
      }
      const status = response.statusCode ?? 0;
      if (status >= 300) throw refusal(request, status, body);
      return body === "" ? undefined : JSON.parse(body);
    } catch (cause) {
      signal.throwIfAborted();
      throw unreachable(this.server, cause);
    }
  }

  /** Yields changes until the server ends the watch, `signal` aborts, or the reader stops. */
  async *watch(path: string, signal: AbortSignal): AsyncIterable<WatchEvent> {
    const end = new AbortController();
    const request: ClusterRequest = { method: "GET", path };
    try {
      const response = await this.#send(request, AbortSignal.any([signal, end.signal]));
      const status = response.statusCode ?? 0;
      if (status >= 300) throw refusal(request, status, "");
      for await (const line of linesOf(response)) yield JSON.parse(line) as WatchEvent;
    } catch (cause) {
      if (signal.aborted) return;
      throw unreachable(this.server, cause);
    } finally {
      end.abort();
    }
  }

  /** Returns the credentials of the API server, for connections with other protocols. */
  async credentials(): Promise<RequestOptions> {
    const options: RequestOptions = {};
    try {
      await this.#config.applyToHTTPSOptions(options);
    } catch (cause) {
      throw unreachable(this.server, cause);
    }
    return options;
  }

  async #send(
    { method, path, body }: ClusterRequest,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const text = body === undefined ? "" : JSON.stringify(body);
    const url = new URL(this.server.replace(/\/$/, "") + path);
    const { headers, ...credentials } = await this.credentials();
    const options: RequestOptions = {
      ...credentials,
      method,
      signal,
      headers: {
        ...(headers as Record<string, string> | undefined),
        accept: "application/json",
        "content-type": "application/json",
        "content-length": Buffer.byteLength(text),
      },
    };
    const request: ClientRequest =
      url.protocol === "https:"
        ? secureRequest(url, options)
        : plainRequest(url, { ...options, agent: undefined });
    request.end(text);
    const [response] = (await once(request, "response")) as [IncomingMessage];
    request.on("error", () => undefined);
    return response;
  }
}

async function* linesOf(response: AsyncIterable<Buffer>): AsyncIterable<string> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  for await (const chunk of response) {
    const lines = (rest + decoder.write(chunk)).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > maxAnswerBytes) throw new Error("a line of the answer is too long");
    yield* lines.filter((line) => line !== "");
  }
}
