import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { connect, createServer } from "node:net";

/** Where a connection is cut: before the server reads a publication, or after it stored the message and before its reply. */
export type Cut = "request" | "reply";

/**
 * A TCP proxy to a server that can cut all connections around the next publication on a subject. It accepts no connection after
 * that until `restore`.
 */
export class SeveringProxy implements AsyncDisposable {
  readonly #server;
  readonly #target: number;
  readonly #sockets = new Set<Socket>();
  #armed: { readonly cut: Cut; readonly subject: string; readonly done: () => void } | undefined;
  #isSevered = false;

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#accept(client));
  }

  static async open(target: number): Promise<SeveringProxy> {
    const proxy = new SeveringProxy(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get port(): number {
    // A TCP listener has an address and a port.
    return (this.#server.address() as AddressInfo).port;
  }

  /** Cuts the connections around the next publication on a subject that starts with `subject`. Resolves when they are cut. */
  cutAtNext(subject: string, cut: Cut): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#armed = { cut, subject, done: resolve };
    return promise;
  }

  restore(): void {
    this.#isSevered = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#sever();
    this.#server.close();
    await once(this.#server, "close");
  }

  #accept(client: Socket): void {
    if (this.#isSevered) {
      client.destroy();
      return;
    }
    const server = connect(this.#target, "127.0.0.1");
    let awaitsReply = false;
    client.on("data", (chunk) => {
      const armed = this.#armed;
      if (armed !== undefined && chunk.includes(`HPUB ${armed.subject}`)) {
        if (armed.cut === "request") {
          this.#sever();
          return;
        }
        awaitsReply = true;
      }
      server.write(chunk);
    });
    server.on("data", (chunk) => {
      // Only the acknowledgement is JSON with the name of a stream.
      if (awaitsReply && chunk.includes('{"stream":')) this.#sever();
      else client.write(chunk);
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

  #sever(): void {
    this.#isSevered = true;
    for (const socket of this.#sockets) socket.destroy();
    this.#armed?.done();
    this.#armed = undefined;
  }
}
