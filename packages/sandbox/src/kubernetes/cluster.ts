import { once } from "node:events";
import type { ClientRequest, IncomingMessage } from "node:http";
import { request as plainRequest } from "node:http";
import type { RequestOptions } from "node:https";
import { request as secureRequest } from "node:https";
import { StringDecoder } from "node:string_decoder";
import type { KubeConfig } from "@kubernetes/client-node";
import { refusal, unreachable } from "./cluster-failure.ts";
import type { ClusterRequest } from "./cluster-request.ts";

const answerMs = 15_000;
const greetingMs = 4_000;
const maxAnswerBytes = 16 * 2 ** 20;

/** One line of a watch. */
export interface WatchEvent {
  readonly type: string;
  readonly object: unknown;
}

/** The API of a cluster, as far as we need it, with the credentials of a configuration. Throws a Failure for what it refuses. */
export class Cluster {
  readonly namespace: string;
  readonly server: string;
  readonly #config: KubeConfig;

  constructor(config: KubeConfig, namespace: string) {
    this.#config = config;
    this.namespace = namespace;
    this.server = config.getCurrentCluster()?.server ?? "";
  }

  /** Whether anybody is there, who is not waited for as long as for an answer to work. Throws a Failure when nobody is. */
  async ping(signal: AbortSignal): Promise<void> {
    await this.request({ method: "GET", path: "/version" }, signal, greetingMs);
  }

  /** The answer as it is; undefined when it is empty. */
  async request(
    asking: ClusterRequest,
    signal: AbortSignal,
    withinMs = answerMs,
  ): Promise<unknown> {
    const until = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
    let said = "";
    try {
      const answer = await this.#answer(asking, until);
      for await (const chunk of answer as AsyncIterable<Buffer>) {
        said += chunk.toString("utf8");
        if (said.length > maxAnswerBytes) throw new Error("the answer is too long");
      }
      const status = answer.statusCode ?? 0;
      if (status >= 300) throw refusal(asking, status, said);
      return said === "" ? undefined : JSON.parse(said);
    } catch (cause) {
      signal.throwIfAborted();
      throw unreachable(this.server, cause);
    }
  }

  /** What changes, until the server ends it, `signal` aborts, or the reader goes away. */
  async *watch(path: string, signal: AbortSignal): AsyncIterable<WatchEvent> {
    const over = new AbortController();
    const asking: ClusterRequest = { method: "GET", path };
    try {
      const answer = await this.#answer(asking, AbortSignal.any([signal, over.signal]));
      const status = answer.statusCode ?? 0;
      if (status >= 300) throw refusal(asking, status, "");
      for await (const line of linesOf(answer)) yield JSON.parse(line) as WatchEvent;
    } catch (cause) {
      if (signal.aborted) return;
      throw unreachable(this.server, cause);
    } finally {
      over.abort();
    }
  }

  /** What a connection needs to be let in: of other protocols than this one. */
  async credentials(): Promise<RequestOptions> {
    const options: RequestOptions = {};
    try {
      await this.#config.applyToHTTPSOptions(options);
    } catch (cause) {
      throw unreachable(this.server, cause);
    }
    return options;
  }

  async #answer(
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
    const asked: ClientRequest =
      url.protocol === "https:"
        ? secureRequest(url, options)
        : plainRequest(url, { ...options, agent: undefined });
    asked.end(text);
    const [answer] = (await once(asked, "response")) as [IncomingMessage];
    asked.on("error", () => undefined);
    return answer;
  }
}

async function* linesOf(answer: AsyncIterable<Buffer>): AsyncIterable<string> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  for await (const chunk of answer) {
    const lines = (rest + decoder.write(chunk)).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > maxAnswerBytes) throw new Error("a line of the answer is too long");
    yield* lines.filter((line) => line !== "");
  }
}
