import type { StartedNetwork } from "testcontainers";
import { GenericContainer } from "testcontainers";

/** A container that is on one network and on no other: cut off from that, it is cut off from everything. */
export class NetworkedContainer extends GenericContainer {
  /** Puts it on `network`, where it is known by each of `names`. */
  on(network: StartedNetwork, ...names: readonly string[]): this {
    const Aliases = [...names];
    this.createOpts.NetworkingConfig = { EndpointsConfig: { [network.getName()]: { Aliases } } };
    return this.withNetworkMode(network.getName());
  }
}
