import { once } from "node:events";
import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { request } from "node:http";
import type { Duplex } from "node:stream";
import { ErrorReason } from "@reeve/contracts/error";
import { onAbort } from "@reeve/platform/async/on-abort";
import { Failure } from "@reeve/platform/failure";

const defaultSocket = "/var/run/docker.sock";
const version = "/v1.40";
const answerMs = 30_000;
const pingMs = 4_000;
const maxAnswerBytes = 16 * 2 ** 20;

/** A client for the part of a container engine's HTTP API that sandboxes need. Methods throw a Failure if the engine refuses. */
export class Engine {
  readonly #address: string;
  readonly #target: RequestOptions;

  /** `address` has the format of `DOCKER_HOST`. */
  constructor(address = `unix://${defaultSocket}`) {
    this.#address = address;
    this.#target = targetOf(address);
  }

  async get(path: string, signal: AbortSignal): Promise<unknown> {
    return await this.#ask("GET", path, undefined, signal);
  }

  /** Checks reachability with a short timeout. Throws a Failure if the engine does not answer. */
  async ping(signal: AbortSignal): Promise<void> {
    await this.#ask("GET", "/version", undefined, signal, pingMs);
  }

  async post(path: string, body: unknown, signal: AbortSignal): Promise<unknown> {
    return await this.#ask("POST", path, body, signal);
  }

  /** Removes a container, running or not. A missing container, or one that is being removed, is not an error. */
  async remove(container: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#ask("DELETE", `/containers/${container}?force=1&v=1`, undefined, signal);
    } catch (error) {
      if (error instanceof Failure && ["not_found", "conflict"].includes(error.kind)) return;
      throw error;
    }
  }

  /** Connects to the streams of a container. `signal` ends only the attempt to connect. */
  async attach(path: string, signal: AbortSignal): Promise<Duplex> {
    const headers = { connection: "Upgrade", upgrade: "tcp" };
    const attaching = this.#request("POST", path, { headers });
    const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
    attaching.once("upgrade", (_, socket: Duplex) => resolve(socket));
    attaching.once("response", (answer) => reject(refusal(path, answer.statusCode ?? 0, "")));
    attaching.once("error", (cause) => reject(this.#unreachable(cause)));
    attaching.end();
    using _ = onAbort(signal, () => attaching.destroy(new Error("the connection took too long")));
    return await promise;
  }

  async #ask(
    method: string,
    path: string,
    body: unknown,
    signal: AbortSignal,
    timeoutMs = answerMs,
  ): Promise<unknown> {
    const text = body === undefined ? "" : JSON.stringify(body);
    const headers = {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
    };
    const until = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const sent = this.#request(method, path, { headers, signal: until });
    sent.end(text);
    let response: IncomingMessage;
    let answer = "";
    try {
      [response] = (await once(sent, "response")) as [IncomingMessage];
      for await (const chunk of response as AsyncIterable<Buffer>) {
        answer += chunk.toString("utf8");
        if (answer.length > maxAnswerBytes) throw new Error("the answer is too long");
      }
    } catch (cause) {
      signal.throwIfAborted();
      throw this.#unreachable(cause);
    }
    const status = response.statusCode ?? 0;
    if (status >= 300) throw refusal(path, status, answer);
    return answer === "" ? undefined : this.#parse(answer);
  }

  #parse(answer: string): unknown {
    try {
      return JSON.parse(answer);
    } catch (cause) {
      throw this.#unreachable(cause);
    }
  }

  #unreachable(cause: unknown): Failure {
    const why = cause instanceof Error ? cause.message : String(cause);
    const problem = `the container engine at ${this.#address} does not answer: ${why}; ${remedyOf(cause)}`;
    return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem, { cause });
  }

  #request(method: string, path: string, options: RequestOptions): ClientRequest {
    return request({ ...this.#target, ...options, method, path: version + path, agent: false });
  }
}

function targetOf(address: string): RequestOptions {
  const url = URL.parse(address);
  if (url?.protocol === "unix:") return { socketPath: url.pathname };
  if (url?.protocol === "tcp:" || url?.protocol === "http:") {
    return { host: url.hostname, port: url.port || 2375 };
  }
  const problem = `DOCKER_HOST is ${address}; only unix:// and tcp:// addresses are supported`;
  throw new Failure("precondition", ErrorReason.INVALID_REQUEST, problem);
}

function remedyOf(cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  if (code === "EACCES")
    return "give the user of this toolhost access to the socket (group docker)";
  if (code === "ENOENT" || code === "ECONNREFUSED") return "start it, or set DOCKER_HOST";
  return "check `docker info`, and restart the engine if that does not answer";
}

function refusal(path: string, status: number, answer: string): Failure {
  const [, message = answer] = /"message":"((?:[^"\\]|\\.)*)"/.exec(answer) ?? [];
  const problem = `the container engine answered ${status} to ${path}: ${message.trim()}`;
  if (status === 404) return new Failure("not_found", ErrorReason.UNAVAILABLE, problem);
  if (status === 409) return new Failure("conflict", ErrorReason.UNAVAILABLE, problem);
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
}
