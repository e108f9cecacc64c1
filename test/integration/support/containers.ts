import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import type { StartedNetwork, StartedTestContainer } from "testcontainers";
import { getContainerRuntimeClient, Network, Wait } from "testcontainers";
import type { Connection } from "@reeve/client";
import { openConnection } from "@reeve/client";
import { ConfinedContainer } from "./confined-container.ts";
import { upToDateImages } from "./engine.ts";
import { NatsContainers } from "./nats-containers.ts";

export type Service = "gateway" | "runtime" | "toolhost" | "approvals";

const token = "test-token-0123456789";
const port = 8080;
/** How long a service may take to end, in milliseconds: longer than any work that it completes first. */
const graceMs = 60_000;
const linesKept = 40;

/** A service in a container. */
export interface Member {
  readonly service: Service;
  readonly container: StartedTestContainer;
  /** A client of the service; only gateways answer. */
  readonly reeve: Connection;
}

export interface ContainersOptions {
  readonly natsServers?: 1 | 3;
  /** Additional settings of all services. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** The services as containers from their images, on one network with NATS, with scripted models. */
export class Containers implements AsyncDisposable {
  readonly nats: NatsContainers;
  readonly #images: Awaited<ReturnType<typeof upToDateImages>>;
  readonly #network: StartedNetwork;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #members: Member[] = [];
  readonly #resources: AsyncDisposableStack;

  private constructor(parts: {
    readonly nats: NatsContainers;
    readonly images: Awaited<ReturnType<typeof upToDateImages>>;
    readonly network: StartedNetwork;
    readonly settings: Readonly<Record<string, string>>;
    readonly resources: AsyncDisposableStack;
  }) {
    this.nats = parts.nats;
    this.#images = parts.images;
    this.#network = parts.network;
    this.#settings = parts.settings;
    this.#resources = parts.resources;
  }

  /** Starts NATS, provisions it, and starts one container of each service. */
  static async start({ natsServers = 1, settings = {} }: ContainersOptions): Promise<Containers> {
    const images = await upToDateImages();
    await using resources = new AsyncDisposableStack();
    const network = await new Network().start();
    resources.defer(async () => void (await network.stop()));
    const nats = await NatsContainers.start(images.nats, network, natsServers);
    resources.defer(() => nats[Symbol.asyncDispose]());
    const containers = new Containers({
      nats,
      images,
      network,
      settings: { REEVE_STREAM_REPLICAS: String(natsServers), ...settings },
      resources: resources.move(),
    });
    try {
      await containers.#provision();
      const services = ["gateway", "runtime", "toolhost", "approvals"] as const;
      await Promise.all(services.map((service) => containers.add(service)));
    } catch (error) {
      // The error of the failed start explains the problem; errors of the cleanup after it do not.
      await containers[Symbol.asyncDispose]().catch(() => undefined);
      throw error;
    }
    return containers;
  }

  /** Returns the members of a service, oldest first. */
  of(service: Service): readonly Member[] {
    return this.#members.filter((member) => member.service === service);
  }

  /** Returns clients of all gateways. */
  get gateways(): readonly Connection[] {
    return this.of("gateway").map(({ reeve }) => reeve);
  }

  /** Returns the oldest gateway. */
  get reeve(): Connection {
    const [first] = this.gateways;
    if (first === undefined) throw new Error("no gateway is running");
    return first;
  }

  /** Starts one more container of a service. Resolves when it is ready. */
  async add(service: Service): Promise<Member> {
    const image = service === "toolhost" ? this.#images.toolhost : this.#images.services;
    const container = this.#confined(image, service)
      .withCommand(["node", `programs/${service}.mjs`])
      .withExposedPorts(port)
      .withBindMounts([
        { source: join(import.meta.dirname, "scripts"), target: "/scripts", mode: "ro" },
        ...(service === "toolhost" ? [{ source: this.#volume, target: "/data" }] : []),
      ])
      .withWaitStrategy(Wait.forHttp("/readyz", port));
    if (service === "toolhost") container.withSandboxes();
    const started = await startLogged(container, service);
    const url = `http://${started.getHost()}:${started.getMappedPort(port)}`;
    const member = { service, container: started, reeve: openConnection({ address: url, token }) };
    this.#members.push(member);
    return member;
  }

  /** Ends a member gracefully and removes it. */
  async end(member: Member): Promise<void> {
    this.#members.splice(this.#members.indexOf(member), 1);
    await member.container.stop({ timeout: graceMs });
    member.reeve[Symbol.dispose]();
  }

  /** Disconnects a member from the network until the result is disposed. */
  async cutOff({ container, service }: Member): Promise<AsyncDisposable> {
    const { container: engine } = await getContainerRuntimeClient();
    const network = engine.dockerode.getNetwork(this.#network.getId());
    const Container = container.getId();
    await network.disconnect({ Container, Force: true });
    const EndpointConfig = { Aliases: [service] };
    return { [Symbol.asyncDispose]: () => network.connect({ Container, EndpointConfig }) };
  }

  /** Creates an agent that plays a script from the folder beside this file. */
  async agent(id: string, spec: MessageInitShape<typeof AgentSpecSchema> = {}): Promise<void> {
    await this.reeve.agents.createAgent({
      spec: create(AgentSpecSchema, { id, name: id, model: `scripted:${id}`, ...spec }),
    });
  }

  async #provision(): Promise<void> {
    const container = this.#confined(this.#images.services, "provision")
      .withCommand(["node", "programs/reeve.mjs", "provision"])
      .withWaitStrategy(Wait.forOneShotStartup());
    const done = await startLogged(container, "provision");
    await done.stop();
  }

  #confined(image: string, name: string): ConfinedContainer {
    const listen = `:${port}`;
    return new ConfinedContainer(image).on(this.#network, name).withEnvironment({
      REEVE_NATS_URL: "nats://nats:4222",
      REEVE_LISTEN: listen,
      REEVE_APPROVALS_LISTEN: listen,
      REEVE_RUNTIME_LISTEN: listen,
      REEVE_TOOLHOST_LISTEN: listen,
      REEVE_APPROVALS_URL: `http://approvals:${port}`,
      REEVE_INTERNAL_TOKEN: "internal-token-0123456789",
      REEVE_TOKENS: `${token}=acme/tester`,
      REEVE_SCRIPTS: "/scripts",
      REEVE_DATA_DIR: "/data",
      REEVE_SANDBOX: "bubblewrap",
      ...this.#settings,
    });
  }

  /** The toolhosts of one machine share the files of runs. */
  get #volume(): string {
    return `reeve-${this.#network.getName()}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(
      this.#members.map(async ({ container, reeve }) => {
        reeve[Symbol.dispose]();
        await container.stop({ timeout: 0 });
      }),
    );
    const { container: engine } = await getContainerRuntimeClient();
    await engine.dockerode.getVolume(this.#volume).remove({ force: true });
    await this.#resources.disposeAsync();
  }
}

/** Starts a container. Rejects with its last log lines if it does not become ready. */
async function startLogged(
  container: ConfinedContainer,
  name: string,
): Promise<StartedTestContainer> {
  const lines: string[] = [];
  container.withLogConsumer((stream) =>
    stream.on("data", (line: unknown) => {
      lines.push(String(line));
      if (lines.length > linesKept) lines.shift();
    }),
  );
  return await container.start().catch((cause: unknown) => {
    const message = `${name} does not become ready; its last log lines:\n${lines.join("")}`;
    throw new Error(message, { cause });
  });
}
