import type { StartedNetwork, StartedTestContainer } from "testcontainers";
import { getContainerRuntimeClient, Wait } from "testcontainers";
import { z } from "zod";
import { NetworkedContainer } from "./networked-container.ts";

const monitorPort = 8222;
const timeoutMs = 60_000;
const pauseMs = 100;

/** A server's view of its streams. A server that does not lead a stream may not know the leader. */
const streamsSeen = z.object({
  account_details: z
    .array(
      z.object({
        stream_detail: z
          .array(
            z.object({
              name: z.string(),
              cluster: z
                .object({
                  leader: z.string().optional(),
                  replicas: z.array(z.object({ current: z.boolean() })).optional(),
                })
                .optional(),
            }),
          )
          .optional(),
      }),
    )
    .optional(),
});

type StreamSeen = { readonly leader?: string | undefined; readonly current: number };

/** NATS servers in containers, under the name `nats` on their network. Several form a cluster. */
export class NatsContainers implements AsyncDisposable {
  readonly #servers: ReadonlyMap<string, StartedTestContainer>;

  private constructor(servers: ReadonlyMap<string, StartedTestContainer>) {
    this.#servers = servers;
  }

  static async start(
    image: string,
    network: StartedNetwork,
    count: number,
  ): Promise<NatsContainers> {
    const names = Array.from({ length: count }, (_, index) => `nats-${index + 1}`);
    const routes = names.map((name) => `nats://${name}:6222`).join(",");
    const store = ["--jetstream", "--store_dir", "/data", "-m", String(monitorPort)];
    const cluster = ["--cluster_name", "reeve", "--cluster", "nats://0.0.0.0:6222"];
    const started = names.map(async (name) => {
      const container = await new NetworkedContainer(image)
        .withCommand([
          ...store,
          "--name",
          name,
          ...(count > 1 ? [...cluster, "--routes", routes] : []),
        ])
        .on(network, "nats", name)
        .withExposedPorts(monitorPort)
        .withWaitStrategy(Wait.forLogMessage("Server is ready"))
        .start();
      return [name, container] as const;
    });
    return new NatsContainers(new Map(await Promise.all(started)));
  }

  /** Returns the server that leads a stream, once one other than `before` does. */
  async leaderOf(stream: string, before?: string): Promise<string> {
    return await this.#until(`leader of ${stream}`, async () => {
      const leaders = (await this.#seen(stream)).map(({ leader }) => leader);
      return leaders.find((leader) => leader !== undefined && leader !== before);
    });
  }

  /** Resolves when every server has a full replica of a stream, and one leads it. */
  async whole(stream: string): Promise<void> {
    const others = this.#servers.size - 1;
    await this.#until(`whole ${stream}`, async () => {
      const seen = await this.#seen(stream);
      const isWhole = seen.some(
        ({ leader, current }) => leader !== undefined && current === others,
      );
      return isWhole ? true : undefined;
    });
  }

  /** Kills a server, as a power failure would. It keeps its stored data. */
  async kill(name: string): Promise<void> {
    await (await this.#container(name)).kill({ signal: "SIGKILL" });
  }

  async startAgain(name: string): Promise<void> {
    await (await this.#container(name)).start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#servers.values()].map((server) => server.stop({ timeout: 0 })));
  }

  async #container(name: string) {
    const server = this.#servers.get(name);
    if (server === undefined) throw new Error(`no server ${name} is running`);
    return (await getContainerRuntimeClient()).container.getById(server.getId());
  }

  async #seen(stream: string): Promise<readonly StreamSeen[]> {
    const asked = [...this.#servers.keys()].map(async (name) => {
      const { NetworkSettings } = await (await this.#container(name)).inspect();
      const port = NetworkSettings.Ports[`${monitorPort}/tcp`]?.[0]?.HostPort;
      const answer = await fetch(`http://127.0.0.1:${port}/jsz?streams=true`);
      const { account_details: accounts } = streamsSeen.parse(await answer.json());
      const found = accounts
        ?.flatMap(({ stream_detail: streams }) => streams ?? [])
        .find((each) => each.name === stream);
      const replicas = found?.cluster?.replicas ?? [];
      return {
        leader: found?.cluster?.leader,
        current: replicas.filter(({ current }) => current).length,
      };
    });
    // A server that is down has no view.
    return await Promise.all(asked.map((answer) => answer.catch(() => ({ current: 0 }))));
  }

  async #until<Value>(what: string, look: () => Promise<Value | undefined>): Promise<Value> {
    const deadline = AbortSignal.timeout(timeoutMs);
    while (!deadline.aborted) {
      const found = await look();
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    throw new Error(`no ${what} after ${timeoutMs} ms`);
  }
}
