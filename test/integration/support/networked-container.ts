import type { StartedNetwork } from "testcontainers";
import { GenericContainer } from "testcontainers";

/** A container on exactly one network, so that disconnecting it from that network isolates it. */
export class NetworkedContainer extends GenericContainer {
  /** Connects it to `network` under each of `names`. */
  on(network: StartedNetwork, ...names: readonly string[]): this {
    const Aliases = [...names];
    this.createOpts.NetworkingConfig = { EndpointsConfig: { [network.getName()]: { Aliases } } };
    return this.withNetworkMode(network.getName());
  }
}
