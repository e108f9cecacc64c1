import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { join } from "node:path";
import type { V1Pod } from "@kubernetes/client-node";
import type { WebSocket } from "ws";
import { WebSocketServer } from "ws";
import type { BwrapProcess } from "../../../src/bubblewrap/start.ts";
import { startPodProcess } from "./pod-process.ts";
import type { Answer } from "./recorded-answers.ts";
import { statuses } from "./recorded-answers.ts";
import type { Stored } from "./recorded-store.ts";
import { RecordedStore } from "./recorded-store.ts";

const streams = { stdin: 0, stdout: 1, status: 3 } as const;

/** The pods of a recorded cluster, with a scheduler and a kubelet. */
export class RecordedPods implements AsyncDisposable {
  readonly store = new RecordedStore("pods");
  /** Pods as they were asked for. */
  readonly made: V1Pod[] = [];
  /** What becomes of a pod that was made. */
  live: (pod: Stored) => Promise<void> | void = (pod) => this.run(pod);
  readonly #folder: string;
  readonly #running = new Map<string, BwrapProcess>();
  readonly #attached = new WebSocketServer({ noServer: true });

  constructor(folder: string) {
    this.#folder = folder;
  }

  async answer(
    method: string,
    name: string | undefined,
    query: URLSearchParams,
    body: Stored,
  ): Promise<Answer> {
    if (method === "DELETE" && name !== undefined) {
      const answer = this.store.answer(method, name, query, body);
      await this.#running.get(name)?.kill();
      return answer;
    }
    const answer = this.store.answer(method, name, query, body);
    if (method === "POST" && answer.status === 201) {
      this.made.push(podOf(body));
      void this.live(body);
    }
    return answer;
  }

  /** As a kubelet does: the container is made, then it runs. */
  async run(pod: Stored): Promise<void> {
    const { name } = pod.metadata;
    this.become(name, statuses.creating);
    const process = await startPodProcess(podOf(pod), join(this.#folder, name));
    if (!this.store.objects.has(name)) return await process.kill();
    this.#running.set(name, process);
    void process.ended.then(() => {
      this.#running.delete(name);
      const isRunning = this.store.objects.get(name)?.status === statuses.running;
      return isRunning ? this.become(name, statuses.done) : undefined;
    });
    this.become(name, statuses.running);
  }

  become(name: string, status: object): void {
    const pod = this.store.objects.get(name);
    if (pod !== undefined) this.store.put({ ...pod, status });
  }

  /** What runs is ended, and this is told of it. */
  async end(name: string, status: object): Promise<void> {
    this.become(name, status);
    await this.#running.get(name)?.kill();
  }

  /** How many run. */
  get running(): number {
    return this.#running.size;
  }

  /** Breaks the connections to their streams. */
  disconnect(): void {
    for (const connection of this.#attached.clients) connection.terminate();
  }

  attach(name: string, request: IncomingMessage, socket: Socket, head: Buffer): void {
    this.#attached.handleUpgrade(request, socket, head, (connection) => {
      const process = this.#running.get(name);
      if (process === undefined) return connection.close();
      connect(connection, process);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.disconnect();
    this.#attached.close();
    const running = [...this.#running.values()];
    await Promise.all(running.map((process) => process.kill()));
    await Promise.all(running.map((process) => process.ended));
  }
}

/** As `stdinOnce` has it: what runs has no input any more once the connection is gone. */
function connect(connection: WebSocket, { input, output, ended }: BwrapProcess): void {
  connection.on("message", (message: Buffer) => {
    if (message[0] === streams.stdin) input.write(message.subarray(1));
  });
  connection.on("close", () => input.destroy());
  connection.on("error", () => undefined);
  output.on("data", (chunk: Buffer) => {
    output.pause();
    connection.send(Buffer.concat([Buffer.of(streams.stdout), chunk]), () => output.resume());
  });
  const tell = () => {
    const status = JSON.stringify({ metadata: {}, status: "Success" });
    connection.send(Buffer.concat([Buffer.of(streams.status), Buffer.from(status)]));
    connection.close(1000);
  };
  void ended.then(tell);
}

/** What was asked for as a pod is one: times are texts on the wire. */
function podOf(stored: Stored): V1Pod {
  return stored as object;
}
