import { once } from "node:events";
import type { AddressInfo, Server, Socket } from "node:net";
import { connect, createServer } from "node:net";
import { createServer as createTlsServer } from "node:tls";

/** The fault that a proxy injects into connections. */
export interface Trouble {
  /** The number of bytes from the server before the fault. */
  readonly afterBytes: number;
  /** The number of connections with the fault; later connections work. */
  readonly times: number;
  /** Whether the connection breaks, or stays open and silent. */
  readonly kind: "cut" | "stall";
}

interface ProxyOptions {
  readonly trouble?: Trouble;
  /** Terminates TLS in front of the server. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** A proxy to a server that injects faults into connections. */
export class UnreliableProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #target: number;
  readonly #sockets = new Set<Socket>();
  #trouble: Trouble | undefined;
  #troubles = 0;

  private constructor(target: number, { trouble, tls }: ProxyOptions) {
    this.#target = target;
    this.#trouble = trouble;
    const accept = (client: Socket) => this.#accept(client);
    this.#server = tls
      ? createTlsServer({ ...tls, ALPNProtocols: ["h2"] }, accept)
      : createServer(accept);
    // A client that does not trust the certificate disconnects.
    this.#server.on("tlsClientError", () => {});
  }

  static async open(url: string, options: ProxyOptions): Promise<UnreliableProxy> {
    const proxy = new UnreliableProxy(Number(new URL(url).port), options);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  /** The proxy's address, `host:port`. */
  get address(): string {
    // A TCP listener has an address and a port.
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The number of connections with a fault. */
  get troubles(): number {
    return this.#troubles;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  #accept(client: Socket): void {
    const server = connect(this.#target, "127.0.0.1");
    let bytes = 0;
    let isSilent = false;
    client.on("data", (chunk) => {
      if (!isSilent) server.write(chunk);
    });
    server.on("data", (chunk) => {
      if (isSilent) return;
      bytes += chunk.length;
      const trouble = this.#trouble;
      if (trouble !== undefined && bytes > trouble.afterBytes && this.#troubles < trouble.times) {
        this.#troubles += 1;
        isSilent = true;
        if (trouble.kind === "cut") client.destroy();
        return;
      }
      client.write(chunk);
    });
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
  }
}
