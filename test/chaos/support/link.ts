import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { connect, createServer } from "node:net";

const bothSides = ["client", "target"] as const;

/** An end of a link: the one that connects, or the port that it leads to. */
export type Side = "client" | "target";

/** A TCP proxy to a port that can be cut, closed, and delayed. */
export class Link implements AsyncDisposable {
  readonly #server;
  readonly #target: number;
  readonly #sockets = new Map<Socket, Side>();
  #isClosed = false;
  /** The sides whose data is held back. */
  readonly #heldBack = new Set<Side>();

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
    for (const socket of this.#sockets.keys()) socket.destroy();
  }

  open(): void {
    this.#isClosed = false;
  }

  /** Holds back the data of both sides, or of one, from now on, without closing connections. */
  holdBack(...sides: readonly Side[]): void {
    for (const side of sides.length === 0 ? bothSides : sides) this.#heldBack.add(side);
    for (const [socket, side] of this.#sockets) if (this.#heldBack.has(side)) socket.pause();
  }

  /** Delivers the data that was held back. */
  release(): void {
    this.#heldBack.clear();
    for (const socket of this.#sockets.keys()) socket.resume();
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
    for (const [from, to, side] of [
      [client, server, "client"],
      [server, client, "target"],
    ] as const) {
      this.#sockets.set(from, side);
      from.setNoDelay(true);
      from.on("data", (piece) => to.write(piece));
      from.on("error", () => to.destroy());
      from.on("close", () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      if (this.#heldBack.has(side)) from.pause();
    }
  }
}
