import { once } from "node:events";
import { chmod, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Server } from "node:https";
import { createServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { Authority } from "../certificates.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import type { Answer } from "./recorded-answers.ts";
import { answers } from "./recorded-answers.ts";
import { RecordedPods } from "./recorded-pods.ts";
import type { Stored } from "./recorded-store.ts";
import { RecordedStore } from "./recorded-store.ts";

const token = "the-token-of-the-toolhost";

const emptyBody: Stored = { metadata: { name: "" } };

export interface RecordedRequest {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
}

/**
 * An API server with recorded answers, whose pods are processes of this machine. All state is in memory. Tests make it fail
 * through `override`, `deny`, and `pods.live`.
 */
export class RecordedCluster implements AsyncDisposable {
  readonly pods: RecordedPods;
  readonly leases = new RecordedStore("leases.coordination.k8s.io");
  readonly claims = new RecordedStore("sandboxclaims.extensions.agents.x-k8s.io");
  /** All requests so far, as `GET /path`. */
  readonly requests: string[] = [];
  readonly kubeconfig: string;
  /** Returns an answer to send instead of the default one. */
  override: (request: RecordedRequest) => Answer | undefined = () => undefined;
  /** Rights that the service account lacks: `create pods`. */
  readonly deny = new Set<string>();
  hasClaims = false;
  /** Called for each new SandboxClaim. */
  onClaim: (claim: Stored) => void = () => undefined;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #resources: AsyncDisposableStack;

  private constructor(server: Server, folder: string, resources: AsyncDisposableStack) {
    this.#server = server;
    this.#resources = resources;
    this.kubeconfig = join(folder, "kubeconfig");
    this.pods = new RecordedPods(folder);
    server.on("request", (request, response) => void this.#serve(request, response));
    server.on("secureConnection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    server.on("upgrade", (request, socket: Socket, head) => {
      const recorded = this.#record(request, "GET");
      const refusal = this.override(recorded);
      const [, name = ""] = /\/pods\/([^/]+)\/attach$/.exec(recorded.path) ?? [];
      if (refusal === undefined) return this.pods.attach(name, request, socket, head);
      const text = JSON.stringify(refusal.body);
      socket.end(
        `HTTP/1.1 ${refusal.status} Refused\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
      );
    });
  }

  static async start(): Promise<RecordedCluster> {
    const resources = new AsyncDisposableStack();
    const folder = resources.use(await temporaryFolder());
    // The pods run as other users, who must be able to pass through.
    await chmod(folder.path, 0o711);
    const authority = await Authority.create();
    const server = createServer(await authority.certify("localhost"));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const cluster = new RecordedCluster(server, folder.path, resources);
    const { port } = server.address() as AddressInfo;
    await writeFile(cluster.kubeconfig, configFor(`https://localhost:${port}`, authority.ca));
    return cluster;
  }

  /** Stops the server and breaks all connections. */
  async goAway(): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    if (this.#server.listening) await once(this.#server, "close");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.goAway();
    await this.pods[Symbol.asyncDispose]();
    await this.#resources.disposeAsync();
  }

  #record(request: IncomingMessage, method: string): RecordedRequest {
    const { pathname: path, searchParams: query } = new URL(request.url ?? "", "http://cluster");
    this.requests.push(`${method} ${path}${query.has("watch") ? "?watch" : ""}`);
    return { method, path, query };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const recorded = this.#record(request, request.method ?? "");
    let text = "";
    for await (const chunk of request as AsyncIterable<Buffer>) text += chunk.toString("utf8");
    const isKnown = request.headers.authorization === `Bearer ${token}`;
    const override = isKnown ? this.override(recorded) : answers.forbidden("get", "anything");
    if (override === undefined && recorded.query.has("watch")) {
      return this.pods.store.watch(recorded.query, response);
    }
    const { status, body } = override ?? (await this.#answer(recorded, text));
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  }

  async #answer({ method, path, query }: RecordedRequest, text: string): Promise<Answer> {
    const body = text === "" ? emptyBody : (JSON.parse(text) as Stored);
    const isReview = path.endsWith("/selfsubjectaccessreviews");
    if (isReview) return this.#review(JSON.parse(text) as object);
    if (path === "/version") return { status: 200, body: { gitVersion: "v1.36.0" } };
    if (path === "/apis/extensions.agents.x-k8s.io/v1beta1") {
      return this.hasClaims ? { status: 200, body: {} } : answers.notFound("path", path);
    }
    const [, kind = "", name] = /\/namespaces\/reeve\/([^/]+)(?:\/([^/]+))?$/.exec(path) ?? [];
    if (kind === "pods") return await this.pods.answer(method, name, query, body);
    const store = { leases: this.leases, sandboxclaims: this.claims }[kind];
    if (store === undefined) return answers.notFound("path", path);
    const answer = store.answer(method, name, query, body);
    if (kind === "sandboxclaims" && method === "POST") this.onClaim(body);
    return answer;
  }

  #review(body: object): Answer {
    const { resourceAttributes: attributes } = (
      body as { spec: { resourceAttributes: Record<string, string> } }
    ).spec;
    const { verb = "", resource = "", subresource = "" } = attributes;
    const whole = subresource === "" ? resource : `${resource}/${subresource}`;
    return { status: 201, body: { status: { allowed: !this.deny.has(`${verb} ${whole}`) } } };
  }
}

function configFor(server: string, ca: Buffer): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      { name: "test", cluster: { server, "certificate-authority-data": ca.toString("base64") } },
    ],
    users: [{ name: "toolhost", user: { token } }],
    contexts: [
      { name: "test", context: { cluster: "test", user: "toolhost", namespace: "reeve" } },
    ],
    "current-context": "test",
  });
}
