import { once } from "node:events";
import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { request } from "node:http";
import type { Duplex } from "node:stream";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";

const defaultSocket = "/var/run/docker.sock";
const version = "/v1.40";
const answerMs = 30_000;
const greetingMs = 4_000;
const maxAnswerBytes = 16 * 2 ** 20;

/** The HTTP API of a container engine, as far as we need it. Throws a Failure for what the engine refuses. */
export class Engine {
  readonly #address: string;
  readonly #where: RequestOptions;

  /** `address` as in `DOCKER_HOST`. */
  constructor(address = `unix://${defaultSocket}`) {
    this.#address = address;
    this.#where = whereIs(address);
  }

  async get(path: string, signal: AbortSignal): Promise<unknown> {
    return await this.#ask("GET", path, undefined, signal);
  }

  /** Whether anybody is there, who is not waited for as long as for an answer to work. Throws a Failure when nobody is. */
  async ping(signal: AbortSignal): Promise<void> {
    await this.#ask("GET", "/version", undefined, signal, greetingMs);
  }

  async post(path: string, body: unknown, signal: AbortSignal): Promise<unknown> {
    return await this.#ask("POST", path, body, signal);
  }

  /** Takes a container away, running or not. One that is gone, or just going, is no mistake. */
  async remove(container: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#ask("DELETE", `/containers/${container}?force=1&v=1`, undefined, signal);
    } catch (error) {
      if (error instanceof Failure && ["not_found", "conflict"].includes(error.kind)) return;
      throw error;
    }
  }

  /** A connection to the streams of a container. */
  async attach(path: string, signal: AbortSignal): Promise<Duplex> {
    const headers = { connection: "Upgrade", upgrade: "tcp" };
    const asking = this.#request("POST", path, { headers });
    const stop = () => asking.destroy(new Error("it takes too long"));
    signal.addEventListener("abort", stop, { once: true });
    asking.end();
    const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
    asking.once("upgrade", (_, socket: Duplex) => resolve(socket));
    asking.once("response", (answer) => reject(refusal(path, answer.statusCode ?? 0, "")));
    asking.once("error", (cause) => reject(this.#unreachable(cause)));
    return await promise.finally(() => signal.removeEventListener("abort", stop));
  }

  async #ask(
    method: string,
    path: string,
    body: unknown,
    signal: AbortSignal,
    withinMs = answerMs,
  ): Promise<unknown> {
    const text = body === undefined ? "" : JSON.stringify(body);
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
    };
    const until = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
    const asking = this.#request(method, path, { headers, signal: until });
    asking.end(text);
    let answer: IncomingMessage;
    let said = "";
    try {
      [answer] = (await once(asking, "response")) as [IncomingMessage];
      for await (const chunk of answer as AsyncIterable<Buffer>) {
        said += chunk.toString("utf8");
        if (said.length > maxAnswerBytes) throw new Error("the answer is too long");
      }
    } catch (cause) {
      signal.throwIfAborted();
      throw this.#unreachable(cause);
    }
    const status = answer.statusCode ?? 0;
    if (status >= 300) throw refusal(path, status, said);
    return said === "" ? undefined : this.#parsed(said);
  }

  #parsed(said: string): unknown {
    try {
      return JSON.parse(said);
    } catch (cause) {
      throw this.#unreachable(cause);
    }
  }

  #unreachable(cause: unknown): Failure {
    const why = cause instanceof Error ? cause.message : String(cause);
    const problem = `the container engine at ${this.#address} does not answer: ${why}; ${wayTo(cause)}`;
    return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem, { cause });
  }

  #request(method: string, path: string, options: RequestOptions): ClientRequest {
    return request({ ...this.#where, ...options, method, path: version + path, agent: false });
  }
}

function whereIs(address: string): RequestOptions {
  const url = URL.parse(address);
  if (url?.protocol === "unix:") return { socketPath: url.pathname };
  if (url?.protocol === "tcp:" || url?.protocol === "http:") {
    return { host: url.hostname, port: url.port || 2375 };
  }
  const problem = `DOCKER_HOST is ${address}; only unix:// and tcp:// are known here`;
  throw new Failure("precondition", ErrorReason.INVALID_REQUEST, problem);
}

/** What helps against an engine that is not reached. */
function wayTo(cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  if (code === "EACCES") return "let the user of this toolhost use its socket (group docker)";
  if (code === "ENOENT" || code === "ECONNREFUSED") return "start it, or let DOCKER_HOST name it";
  return "see whether `docker info` answers, and start the engine again if it does not";
}

function refusal(path: string, status: number, said: string): Failure {
  const [, message = said] = /"message":"((?:[^"\\]|\\.)*)"/.exec(said) ?? [];
  const problem = `the container engine answers ${status} to ${path}: ${message.trim()}`;
  if (status === 404) return new Failure("not_found", ErrorReason.UNAVAILABLE, problem);
  if (status === 409) return new Failure("conflict", ErrorReason.UNAVAILABLE, problem);
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
}
