import type { NatsConnection } from "@nats-io/transport-node";
import { callStore } from "./call-store.ts";
import { configOfStream } from "./config-of-stream.ts";
import { openJetStreamManager } from "./ensure-stream.ts";
import { replicasOfNew } from "./new-stream-replicas.ts";

/** How a store that has a stream of its own is opened and created. */
interface OpenOrCreate<Store> {
  readonly stream: string;
  open(): Promise<Store>;
  create(replicas: number): Promise<Store>;
}

/** Opens a store whose stream exists, and creates another one with as many replicas as new streams have. */
export async function openOrCreate<Store>(
  connection: NatsConnection,
  { stream, open, create }: OpenOrCreate<Store>,
): Promise<Store> {
  return await callStore(async () => {
    const { streams } = await openJetStreamManager(connection);
    const exists = async () => (await configOfStream(streams, stream)) !== undefined;
    if (await exists()) return await open();
    const replicas = await replicasOfNew(connection, streams);
    try {
      return await create(replicas);
    } catch (error) {
      // A process of another version may have created it meanwhile, with another number of replicas.
      if (!(await exists().catch(() => false))) throw error;
      return await open();
    }
  });
}
