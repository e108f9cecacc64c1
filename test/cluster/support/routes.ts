import { Link } from "../../chaos/support/link.ts";

/** The routes between the servers of a cluster, each through a link that can be cut and delayed. */
export class Routes implements AsyncDisposable {
  readonly #links: { readonly from: string; readonly to: string; readonly link: Link }[] = [];

  /** Creates the link over which the server `from` connects to `to`, and returns its port. */
  async via(from: string, to: { readonly name: string; readonly routePort: number }) {
    const link = await Link.to(to.routePort);
    this.#links.push({ from, to: to.name, link });
    return link.port;
  }

  /** Separates a server from the others, until `heal`. */
  isolate(name: string): void {
    for (const { link } of this.#of(name)) link.cut(true);
  }

  /** Holds back what a server sends to the others, until `heal`. It still receives. */
  mute(name: string): void {
    for (const { from, link } of this.#of(name)) link.holdBack(from === name ? "client" : "target");
  }

  /** Holds back what a server receives from the others, until `heal`. It still sends. */
  deafen(name: string): void {
    for (const { from, link } of this.#of(name)) link.holdBack(from === name ? "target" : "client");
  }

  heal(name: string): void {
    for (const { link } of this.#of(name)) {
      link.open();
      link.release();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#links.map(({ link }) => link[Symbol.asyncDispose]()));
  }

  #of(name: string) {
    return this.#links.filter(({ from, to }) => from === name || to === name);
  }
}
