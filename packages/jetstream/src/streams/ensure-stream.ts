import type { JetStreamManager, StreamConfig } from "@nats-io/jetstream";
import { DiscardPolicy, jetstreamManager, RetentionPolicy, StorageType } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { nanos } from "@nats-io/transport-node";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { Retention } from "@reeve/contracts/bus";
import type { ChannelTemplate } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { setTimeout as wait } from "node:timers/promises";
import { isNotFound } from "./errors.ts";

/** How often the stream is asked for while JetStream is not ready yet. */
const maxAttempts = 40;
const retryMs = 250;
/** How often the stream is brought into shape while others do so too. */
const maxChanges = 5;

/** The manager of a connection whose server may still be starting. */
export async function openManager(connection: NatsConnection): Promise<JetStreamManager> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await jetstreamManager(connection, { timeout: 5_000 });
    } catch (error) {
      if (attempt === maxAttempts || connection.isClosed()) throw error;
      await wait(retryMs);
    }
  }
}

/** Makes the stream that a channel declares, or gives it what the channel needs. Returns its name. */
export async function ensureStream(manager: JetStreamManager, channel: ChannelTemplate): Promise<string> {
  const wanted = configOf(channel);
  const { name } = wanted;
  for (let attempt = 0; attempt < maxChanges; attempt++) {
    const existing = await infoOf(manager, name);
    if (existing !== undefined && differences(existing, wanted).length === 0) return name;
    const subjects = [...new Set([...(existing?.subjects ?? []), ...wanted.subjects])];
    // Another process may do the same at this moment: what counts is what is there when one looks again.
    await (
      existing === undefined
        ? manager.streams.add(wanted)
        : manager.streams.update(name, { ...wanted, subjects })
    ).catch(async (error: unknown) => {
      if ((await infoOf(manager, name)) === undefined) throw error;
    });
    const made = await infoOf(manager, name);
    if (made !== undefined && differences(made, wanted).length === 0) return name;
    await wait(retryMs * Math.random());
  }
  const made = await infoOf(manager, name);
  throw new Failure(
    "precondition",
    ErrorReason.INTERNAL,
    `stream ${name} has another ${differences(made ?? {}, wanted).join(", ")} than this version needs; nats-server must be 2.9 or later, and the stream made by reeve`,
  );
}

/** The settings in which a stream falls short of what is wanted. Old servers ignore in silence what they do not know. */
function differences(made: Partial<StreamConfig>, wanted: RequiredConfig): readonly string[] {
  const { subjects, republish, ...plain } = wanted;
  const different = Object.entries(plain)
    .filter(([setting, value]) => made[setting as keyof StreamConfig] !== value)
    .map(([setting]) => setting);
  if (!subjects.every((subject) => made.subjects?.includes(subject))) different.push("subjects");
  if (republish !== undefined && made.republish?.dest !== republish.dest) {
    different.push("republish");
  }
  return different;
}

async function infoOf(manager: JetStreamManager, name: string): Promise<StreamConfig | undefined> {
  try {
    return (await manager.streams.info(name)).config;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

type RequiredConfig = Partial<StreamConfig> & Pick<StreamConfig, "name" | "subjects">;

function configOf(channel: ChannelTemplate): RequiredConfig {
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
