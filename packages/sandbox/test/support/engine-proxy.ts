import { once } from "node:events";
import type { Server, Socket } from "node:net";
import { connect, createServer } from "node:net";
import { join } from "node:path";

/** A way to a container engine that can be made to stand still, or to break off, as if the engine did. */
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
      if (this.#isFrozen) this.#still(near, far);
    });
  }

  /** `target` as in `DOCKER_HOST`, a Unix socket. */
  static async start(folder: string, target: string): Promise<EngineProxy> {
    const proxy = new EngineProxy(join(folder, "engine.sock"), target.replace("unix://", ""));
    await proxy.listen();
    return proxy;
  }

  async listen(): Promise<void> {
    this.#server.listen(this.#path);
    await once(this.#server, "listening");
  }

  /** How many connections there are, those to whoever calls and those to the engine. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** Nothing goes through any more, and nobody is told. */
  freeze(): void {
    this.#isFrozen = true;
    this.#still(...this.#sockets);
  }

  /** Nobody listens any more, and whoever was connected is no longer. */
  async cut(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.cut();
  }

  #still(...sockets: readonly Socket[]): void {
    for (const socket of sockets) {
      socket.unpipe();
      socket.pause();
    }
  }
}
