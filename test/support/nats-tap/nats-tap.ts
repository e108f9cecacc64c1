import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { connect, createServer } from "node:net";
import type { NatsCommand } from "./protocol-reader.ts";
import { ProtocolReader } from "./protocol-reader.ts";

/** A request on the wire: what a client publishes, or a change of its subscriptions. */
export interface WireRequest {
  /** The name of the connection that sent it. */
  readonly client: string;
  readonly verb: "PUB" | "SUB" | "UNSUB";
  /** Of `UNSUB`: the subject of the subscription that it ends. */
  readonly subject: string;
  /** The beginning of what was published, as text. */
  readonly payload: string;
}

const maxPayload = 512;

/** A TCP proxy to a NATS server that records what its clients send, in order. */
export class NatsTap implements AsyncDisposable {
  readonly #server;
  readonly #target: number;
  readonly #sockets = new Set<Socket>();
  readonly #clients = new Set<TappedClient>();
  #recorded: WireRequest[] = [];

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#accept(client));
  }

  /** Starts a proxy to a port of loopback. */
  static async to(target: number): Promise<NatsTap> {
    const tap = new NatsTap(target);
    tap.#server.listen(0, "127.0.0.1");
    await once(tap.#server, "listening");
    return tap;
  }

  get url(): string {
    // A TCP listener has an address and a port.
    return `nats://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Returns the requests since the last call. */
  take(): readonly WireRequest[] {
    const recorded = this.#recorded;
    this.#recorded = [];
    return recorded;
  }

  /** Returns the subjects of the open subscriptions of all clients. */
  subscriptions(): readonly string[] {
    return [...this.#clients].flatMap(({ subjects }) => [...subjects]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    const closed = once(this.#server, "close");
    this.#server.close();
    await closed;
  }

  #accept(client: Socket): void {
    const server = connect(this.#target, "127.0.0.1");
    const tapped = new TappedClient();
    this.#clients.add(tapped);
    client.on("data", (chunk) => {
      this.#recorded.push(...tapped.requestsIn(chunk));
      server.write(chunk);
    });
    server.on("data", (chunk) => client.write(chunk));
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(one);
      one.setNoDelay(true);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        this.#sockets.delete(one);
        this.#clients.delete(tapped);
        other.destroy();
      });
    }
  }
}

/** The requests and the open subscriptions of one connection. */
class TappedClient {
  readonly #reader = new ProtocolReader();
  readonly #subjects = new Map<string, string>();
  #name = "";

  get subjects(): Iterable<string> {
    return this.#subjects.values();
  }

  requestsIn(chunk: Buffer): readonly WireRequest[] {
    return this.#reader.read(chunk).flatMap((command) => this.#requestOf(command) ?? []);
  }

  #requestOf({ verb, args, payload }: NatsCommand): WireRequest | undefined {
    const request = { client: this.#name, payload: payload.slice(0, maxPayload) };
    const subject = args[0] ?? "";
    switch (verb) {
      case "CONNECT":
        this.#name = (JSON.parse(args.join(" ")) as { readonly name?: string }).name ?? "";
        return undefined;
      case "PUB":
      case "HPUB":
        return { ...request, verb: "PUB", subject };
      case "SUB":
        this.#subjects.set(args.at(-1) ?? "", subject);
        return { ...request, verb: "SUB", subject };
      case "UNSUB": {
        const ended = this.#subjects.get(subject) ?? "";
        // With a second argument, it ends after so many messages: that of one reply.
        if (args.length === 1) this.#subjects.delete(subject);
        return { ...request, verb: "UNSUB", subject: ended };
      }
      default:
        return undefined;
    }
  }
}
