import type { JetStreamManager, StreamConfig } from "@nats-io/jetstream";
import { DiscardPolicy, jetstreamManager, RetentionPolicy, StorageType } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { nanos } from "@nats-io/transport-node";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { Retention } from "@reeve/contracts/bus";
import type { ChannelOf } from "@reeve/contracts/channel";
import { setTimeout as wait } from "node:timers/promises";
import { isMissing } from "./missing.ts";

/** How often the stream is asked for while JetStream is not ready yet. */
const mostAttempts = 40;
const retryMs = 250;

/** The manager of a connection whose server may still be starting. */
export async function managerOf(connection: NatsConnection): Promise<JetStreamManager> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await jetstreamManager(connection, { timeout: 5_000 });
    } catch (error) {
      if (attempt === mostAttempts || connection.isClosed()) throw error;
      await wait(retryMs);
    }
  }
}

/** Makes the stream that a channel declares, unless it is there. Returns its name. */
export async function ensureStream(manager: JetStreamManager, channel: ChannelOf): Promise<string> {
  const wanted = configOf(channel);
  const existing = await infoOf(manager, wanted.name);
  if (existing === undefined) {
    await manager.streams.add(wanted).catch(async (error: unknown) => {
      // Another process may have made it in between.
      if ((await infoOf(manager, wanted.name)) === undefined) throw error;
    });
  } else if (!existing.subjects.includes(channel.wildcard)) {
    await manager.streams.update(wanted.name, {
      subjects: [...existing.subjects, channel.wildcard],
    });
  }
  const made = await infoOf(manager, wanted.name);
  if (wanted.republish !== undefined && made?.republish?.dest !== wanted.republish.dest) {
    // Old servers ignore in silence what they do not know.
    throw new Error(
      `stream ${wanted.name} does not republish; nats-server must be 2.9 or later, and the stream made by this version`,
    );
  }
  return wanted.name;
}

async function infoOf(manager: JetStreamManager, name: string): Promise<StreamConfig | undefined> {
  try {
    return (await manager.streams.info(name)).config;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

type Wanted = Partial<StreamConfig> & Pick<StreamConfig, "name" | "subjects">;

function configOf(channel: ChannelOf): Wanted {
  const { stream, wildcard, liveTransform } = channel;
  if (stream === undefined) throw new Error(`${wildcard} declares no stream`);
  const workQueue = stream.retention === Retention.WORK_QUEUE;
  return {
    name: stream.name,
    subjects: [wildcard],
    storage: StorageType.File,
    retention: workQueue ? RetentionPolicy.Workqueue : RetentionPolicy.Limits,
    // What was accepted is never dropped to make room: a full store refuses.
    discard: DiscardPolicy.New,
    allow_direct: true,
    ...(stream.maxAge && { max_age: nanos(durationMs(stream.maxAge)) }),
    ...(stream.duplicateWindow && {
      duplicate_window: nanos(durationMs(stream.duplicateWindow)),
    }),
    ...(liveTransform !== undefined && { republish: { src: wildcard, dest: liveTransform } }),
  };
}
