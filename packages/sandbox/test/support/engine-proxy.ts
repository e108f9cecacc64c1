import { once } from "node:events";
import type { Server, Socket } from "node:net";
import { connect, createServer } from "node:net";
import { join } from "node:path";

/** A proxy in front of a container engine, which can freeze or break all connections as if the engine did. */
export class EngineProxy implements AsyncDisposable {
  readonly address: string;
  readonly #path: string;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #isFrozen = false;

  private constructor(path: string, target: string) {
    this.#path = path;
    this.address = `unix://${path}`;
    this.#server = createServer((near) => {
      const far = connect(target);
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(from);
        from.on("error", () => undefined);
        from.once("close", () => {
          this.#sockets.delete(from);
          to.destroy();
        });
        from.pipe(to);
      }
      if (this.#isFrozen) this.#stop(near, far);
    });
  }

  /** Starts a proxy for a Unix socket. `target` has the format of `DOCKER_HOST`. */
  static async start(folder: string, target: string): Promise<EngineProxy> {
    const proxy = new EngineProxy(join(folder, "engine.sock"), target.replace("unix://", ""));
    await proxy.listen();
    return proxy;
  }

  async listen(): Promise<void> {
    this.#server.listen(this.#path);
    await once(this.#server, "listening");
  }

  /** How many connections are open, to clients and to the engine together. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** Stops forwarding without closing any connection. */
  freeze(): void {
    this.#isFrozen = true;
    this.#stop(...this.#sockets);
  }

  /** Stops listening and closes all connections. */
  async cut(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.cut();
  }

  #stop(...sockets: readonly Socket[]): void {
    for (const socket of sockets) {
      socket.unpipe();
      socket.pause();
    }
  }
}
