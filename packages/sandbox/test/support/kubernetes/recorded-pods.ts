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

/** The pods of a recorded cluster, with the behavior of a scheduler and a kubelet. */
export class RecordedPods implements AsyncDisposable {
  readonly store = new RecordedStore("pods");
  /** All pods that were created, as they were requested. */
  readonly created: V1Pod[] = [];
  /** Called for each new pod. By default, runs it. */
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
      this.created.push(podOf(body));
      void this.live(body);
    }
    return answer;
  }

  /** Creates and runs the container of a pod, as a kubelet does. */
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

  /** Ends a pod and sets its status. */
  async end(name: string, status: object): Promise<void> {
    this.become(name, status);
    await this.#running.get(name)?.kill();
  }

  /** How many pods run. */
  get running(): number {
    return this.#running.size;
  }

  /** Breaks the connections to the streams of all pods. */
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

/** Connects a process to an attach request. Closing the connection closes standard input, as `stdinOnce` requires. */
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
  const sendStatus = () => {
    const status = JSON.stringify({ metadata: {}, status: "Success" });
    connection.send(Buffer.concat([Buffer.of(streams.status), Buffer.from(status)]));
    connection.close(1000);
  };
  void ended.then(sendStatus);
}

/** Returns a stored object as a pod. Only its times differ, which JSON represents as text. */
function podOf(stored: Stored): V1Pod {
  return stored as object;
}
