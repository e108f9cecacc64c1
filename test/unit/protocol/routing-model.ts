import { create } from "@bufbuild/protobuf";
import type { ToolCallRequest } from "@reeve/contracts/tool";
import type { ForwardedToolCall } from "@reeve/contracts/toolhost";
import { ToolhostPresenceSchema } from "@reeve/contracts/toolhost";
import type { Routing } from "@reeve/calls/ports/routing";
import { QueueModel } from "./queue-model.ts";
import type { Actor, Choice, Scheduler } from "./scheduler.ts";

const pool = "default";

/** Toolhosts that know each other, the calls that they forward to each other, and which of them holds the run's files. */
export class RoutingModel {
  readonly #scheduler: Scheduler;
  readonly #requests: QueueModel<ToolCallRequest>;
  readonly #stream: { last: number };
  readonly #queues = new Map<string, QueueModel<ForwardedToolCall>>();
  readonly #hosts: Actor[] = [];
  #mistakes: number;
  #holder: string;

  constructor(
    scheduler: Scheduler,
    requests: QueueModel<ToolCallRequest>,
    {
      stream,
      holder,
      mistakes,
    }: {
      readonly stream: { last: number };
      readonly holder: string;
      readonly mistakes: number;
    },
  ) {
    this.#scheduler = scheduler;
    this.#requests = requests;
    this.#stream = stream;
    this.#holder = holder;
    this.#mistakes = mistakes;
  }

  get name(): string {
    const queues = [...this.#queues.values()].map((queue) => queue.name);
    return [`held by ${this.#holder}, ${this.#mistakes}`, ...queues].join("\n");
  }

  join(actor: Actor): void {
    this.#hosts.push(actor);
    this.queueOf(actor.name);
  }

  /** The toolhosts to which calls were or may be forwarded. */
  get hosts(): readonly string[] {
    return this.#hosts.map(({ name }) => name);
  }

  queueOf(host: string): QueueModel<ForwardedToolCall> {
    const known = this.#queues.get(host);
    if (known !== undefined) return known;
    const options = { stream: this.#stream };
    const queue = new QueueModel<ForwardedToolCall>(
      `request for ${host}`,
      this.#scheduler,
      options,
    );
    this.#queues.set(host, queue);
    return queue;
  }

  holds(sequence: number): boolean {
    return (
      this.#requests.holds(sequence) ||
      [...this.#queues.values()].some((queue) => queue.holds(sequence))
    );
  }

  isHeldBy(actor: Actor): boolean {
    return [...this.#queues.values()].some((queue) => queue.isHeldBy(actor));
  }

  choices(): readonly Choice[] {
    return [...this.#queues.values()].flatMap((queue) => queue.choices());
  }

  /** Whether others may adopt the calls sent to a host: it is dead, or is mistakenly declared dead this once. */
  isGone(host: string): boolean {
    return this.#mistakes > 0 || !this.#isAlive(host);
  }

  /** Takes the calls that were sent to another host. */
  async *adopt(actor: Actor, host: string, signal: AbortSignal) {
    const isGone = () => this.isGone(host);
    for await (const delivery of this.queueOf(host).adopt(actor, signal, isGone)) {
      if (this.#isAlive(host)) this.#mistakes--;
      yield delivery;
    }
  }

  /** The routing ports of one toolhost. */
  of(actor: Actor): Routing {
    return {
      pool,
      peers: {
        list: () =>
          this.#hosts
            .filter(({ name }) => name !== actor.name && this.#isAlive(name))
            .map(({ name: host }) => create(ToolhostPresenceSchema, { host, pool, slots: 4 })),
        offers: () => true,
        listens: async (host) => this.#isAlive(host),
        isGone: async (host) => this.isGone(host),
      },
      holders: {
        holderOf: () => this.#read(actor, "asks who holds the files", () => this.#holder),
        hold: (_, { host, instead }) =>
          this.#scheduler.act({
            actor,
            label: "takes the files",
            kind: "write",
            happen: async () => {
              if (this.#holder === instead) this.#holder = host;
              return this.#holder;
            },
            outcomeOf: String,
          }),
      },
      calls: {
        to: (host) => ({
          ...this.queueOf(host).of(actor),
          holds: (sequence) => this.#holds(actor, sequence),
        }),
        hosts: async () => this.hosts,
        open: async (host) => this.queueOf(host).of(actor),
        backlog: async () => ({ waiting: 0, delivered: 0 }),
        remove: async () => undefined,
      },
      requests: this.requestsOf(actor),
    };
  }

  /** The queue of the pool, whose stream holds the calls of all hosts. */
  requestsOf(actor: Actor) {
    const queue = this.#requests.of(actor);
    return { ...queue, holds: (sequence: number) => this.#holds(actor, sequence) };
  }

  #holds(actor: Actor, sequence: number): Promise<boolean> {
    return this.#read(actor, `asks for request ${sequence}`, () => this.holds(sequence));
  }

  async #read<Value>(actor: Actor, label: string, see: () => Value): Promise<Value> {
    const happen = async () => see();
    return await this.#scheduler.act({ actor, label, kind: "look", happen, outcomeOf: String });
  }

  #isAlive(host: string): boolean {
    return this.#hosts.some((each) => each.name === host && each.isAlive && each.hasEnded !== true);
  }
}
