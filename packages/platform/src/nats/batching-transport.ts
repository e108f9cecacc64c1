import type { ConnectionOptions, NatsConnection } from "@nats-io/transport-node";
import { NatsConnectionImpl, setTransportFactory } from "@nats-io/transport-node";
import { NodeTransport, nodeResolveHost } from "@nats-io/transport-node/lib/node_transport.js";

/**
 * A connection that writes what is sent in one turn of the event loop together. The client's own transport writes after each
 * microtask that sends something, and a system call costs as much as dozens of messages.
 */
export class BatchingTransport extends NodeTransport {
  override send(frame: Uint8Array): void {
    const { socket } = this;
    if (!this.isClosed && socket.writableCorked === 0) {
      socket.cork();
      setImmediate(() => socket.uncork());
    }
    super.send(frame);
  }
}

/** Connects as `connect` of the client does, with writes that are gathered. */
export function connectBatching(options: ConnectionOptions): Promise<NatsConnection> {
  setTransportFactory({
    factory: () => new BatchingTransport(),
    dnsResolveFn: nodeResolveHost,
  });
  return NatsConnectionImpl.connect(options);
}
