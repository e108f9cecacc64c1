import { join } from "node:path";
import process from "node:process";
import { create } from "@bufbuild/protobuf";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import type { StartedNetwork, StartedTestContainer } from "testcontainers";
import { getContainerRuntimeClient, Network, Wait } from "testcontainers";
import type { TaskMeta } from "vitest";
import type { Connection } from "@reeve/client";
import { openConnection } from "@reeve/client";
import { ConfinedContainer } from "./confined-container.ts";
import { upToDateImages } from "./engine.ts";
import { NatsContainers } from "./nats-containers.ts";

export type Service = "gateway" | "runtime" | "toolhost" | "approvals";

const token = "test-token-0123456789";
const port = 8080;
/** How long a service may take to end, in milliseconds: longer than anything that it lets finish. */
const graceMs = 60_000;
const linesKept = 40;

/** A service in a container. */
export interface Member {
  readonly service: Service;
  readonly container: StartedTestContainer;
  /** A client of it; only a gateway answers. */
  readonly reeve: Connection;
}

export interface ContainersOptions {
  readonly natsServers?: 1 | 3;
  /** Further settings of all services. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** The services from their images, on one network with NATS, with scripts instead of models. */
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

  /**
   * Starts everything, and a second time if something does not become ready: a busy machine can be too slow. `meta` is that
   * of the suite, so that the report of the tests lists the suite as flaky.
   */
  static async start(options: ContainersOptions, meta: TaskMeta): Promise<Containers> {
    try {
      return await Containers.#begin(options);
    } catch (error) {
      // Nightly runs retry nothing.
      if (process.env["REEVE_NIGHTLY"] !== undefined) throw error;
      meta.flakyHook = String(error);
      process.stderr.write(`the containers did not become ready, retrying: ${String(error)}\n`);
      return await Containers.#begin(options);
    }
  }

  /** Starts NATS, has what the services need made in it, and starts one of each service. */
  static async #begin({ natsServers = 1, settings = {} }: ContainersOptions): Promise<Containers> {
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
      // What did not start tells why; that it is in the way of its own end tells nothing.
      await containers[Symbol.asyncDispose]().catch(() => undefined);
      throw error;
    }
    return containers;
  }

  /** The members of a service, the oldest first. */
  of(service: Service): readonly Member[] {
    return this.#members.filter((member) => member.service === service);
  }

  /** Clients of all gateways. */
  get gateways(): readonly Connection[] {
    return this.of("gateway").map(({ reeve }) => reeve);
  }

  /** The gateway that is the oldest. */
  get reeve(): Connection {
    const [first] = this.gateways;
    if (first === undefined) throw new Error("there is no gateway");
    return first;
  }

  /** Starts one more of a service, and resolves when it is ready. */
  async add(service: Service): Promise<Member> {
    const image = service === "toolhost" ? this.#images.toolhost : this.#images.services;
    const container = this.#confined(image, service)
      .withCommand(["node", `services/${service}/src/main.ts`])
      .withExposedPorts(port)
      .withBindMounts([
        { source: join(import.meta.dirname, "scripts"), target: "/scripts", mode: "ro" },
        ...(service === "toolhost" ? [{ source: this.#volume, target: "/data" }] : []),
      ])
      .withWaitStrategy(Wait.forHttp("/readyz", port));
    if (service === "toolhost") container.withSandboxes();
    const said: string[] = [];
    container.withLogConsumer((stream) =>
      stream.on("data", (line: unknown) => {
        said.push(String(line));
        if (said.length > linesKept) said.shift();
      }),
    );
    const started = await container.start().catch((cause: unknown) => {
      throw new Error(`${service} does not become ready; it said last:\n${said.join("")}`, {
        cause,
      });
    });
    const url = `http://${started.getHost()}:${started.getMappedPort(port)}`;
    const member = { service, container: started, reeve: openConnection({ address: url, token }) };
    this.#members.push(member);
    return member;
  }

  /** Ends a member in order, and takes it away. */
  async end(member: Member): Promise<void> {
    this.#members.splice(this.#members.indexOf(member), 1);
    await member.container.stop({ timeout: graceMs });
    member.reeve[Symbol.dispose]();
  }

  /** Cuts a member off from everything else on the network, until the result is disposed. */
  async cutOff({ container, service }: Member): Promise<AsyncDisposable> {
    const { container: engine } = await getContainerRuntimeClient();
    const network = engine.dockerode.getNetwork(this.#network.getId());
    const Container = container.getId();
    await network.disconnect({ Container, Force: true });
    const EndpointConfig = { Aliases: [service] };
    return { [Symbol.asyncDispose]: () => network.connect({ Container, EndpointConfig }) };
  }

  /** Stores an agent that plays a script of the folder beside this file. */
  async agent(id: string, spec: MessageInitShape<typeof AgentSpecSchema> = {}): Promise<void> {
    await this.reeve.agents.createAgent({
      spec: create(AgentSpecSchema, { id, name: id, model: `scripted:${id}`, ...spec }),
    });
  }

  async #provision(): Promise<void> {
    const done = await this.#confined(this.#images.services, "provision")
      .withCommand(["node", "cli/src/main.ts", "provision"])
      .withWaitStrategy(Wait.forOneShotStartup())
      .start();
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

  /** Toolhosts of one machine share the files of runs. */
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
