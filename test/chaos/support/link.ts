import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { connect, createServer } from "node:net";

/** A TCP proxy to a port that can be cut, closed, and delayed. */
export class Link implements AsyncDisposable {
  readonly #server;
  readonly #target: number;
  readonly #sockets = new Set<Socket>();
  #isClosed = false;
  #isHeldBack = false;

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#accept(client));
  }

  static async to(target: number): Promise<Link> {
    const link = new Link(target);
    link.#server.listen(0, "127.0.0.1");
    await once(link.#server, "listening");
    return link;
  }

  get port(): number {
    // A TCP listener has an address and a port.
    return (this.#server.address() as AddressInfo).port;
  }

  /** Ends every connection. While the link is closed, it accepts no connections. */
  cut(isClosed: boolean): void {
    this.#isClosed = isClosed;
    for (const socket of this.#sockets) socket.destroy();
  }

  open(): void {
    this.#isClosed = false;
  }

  /** Holds back all data from now on, without closing connections. */
  holdBack(): void {
    this.#isHeldBack = true;
    for (const socket of this.#sockets) socket.pause();
  }

  /** Delivers the data that was held back. */
  release(): void {
    this.#isHeldBack = false;
    for (const socket of this.#sockets) socket.resume();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut(true);
    this.#server.close();
    await once(this.#server, "close");
  }

  #accept(client: Socket): void {
    if (this.#isClosed) {
      client.destroy();
      return;
    }
    const server = connect(this.#target, "127.0.0.1");
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from);
      from.setNoDelay(true);
      from.on("data", (piece) => to.write(piece));
      from.on("error", () => to.destroy());
      from.on("close", () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      if (this.#isHeldBack) from.pause();
    }
  }
}
