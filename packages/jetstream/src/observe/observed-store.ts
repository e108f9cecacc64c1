import type { JetStreamManager } from "@nats-io/jetstream";
import { jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import type { Projection } from "@reeve/contracts/projection";
import { callStore } from "../streams/call-store.ts";
import type { Table } from "../table/port.ts";
import type { FeedLagState } from "./feed-lags.ts";
import { feedLags } from "./feed-lags.ts";
import type { QueueState } from "./queue-states.ts";
import { notificationQueueStates, runQueueState, toolCallQueueStates } from "./queue-states.ts";
import type { StoreUsage } from "./store-usage.ts";
import { storeUsage } from "./store-usage.ts";

/** Timeout for each request: who looks at the state of a deployment waits only briefly. */
const timeoutMs = 2_000;

/** What operators see of the store. All methods throw a Failure when the store does not answer. */
export interface ObservedStore {
  runQueue(): Promise<readonly QueueState[]>;
  toolCallQueues(): Promise<readonly QueueState[]>;
  notificationQueues(): Promise<readonly QueueState[]>;
  feeds(signal: AbortSignal): Promise<readonly FeedLagState[]>;
  usage(): Promise<StoreUsage>;
}

/** Returns what operators see of the store of a connection. `positions` are those of the feeds. */
export function observeStore(
  { connection }: { readonly connection: NatsConnection },
  positions: Pick<Table<Projection>, "get">,
): ObservedStore {
  let opened: Promise<JetStreamManager> | undefined;
  const manager = () =>
    (opened ??= jetstreamManager(connection, { checkAPI: false, timeout: timeoutMs }));
  const ofQueue = (
    read: (of: Parameters<typeof runQueueState>[0]) => ReturnType<typeof runQueueState>,
  ) => callStore(async () => await read({ connection, manager: await manager() }));
  return {
    runQueue: () => ofQueue(runQueueState),
    toolCallQueues: () => ofQueue(toolCallQueueStates),
    notificationQueues: () => ofQueue(notificationQueueStates),
    feeds: (signal) =>
      callStore(async () => await feedLags({ manager: await manager(), positions }, signal)),
    usage: () => callStore(async () => await storeUsage(await manager())),
  };
}
