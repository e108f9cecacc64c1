import type { JetStreamManager, StreamConfig } from "@nats-io/jetstream";
import { DiscardPolicy, jetstreamManager, RetentionPolicy, StorageType } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { nanos } from "@nats-io/transport-node";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { Retention } from "@reeve/contracts/bus";
import type { ChannelTemplate } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import { neverAborts } from "@reeve/platform/async/never-aborts";
import { retry } from "@reeve/platform/async/retry/retry";
import { sleep } from "@reeve/platform/async/sleep";
import { Failure } from "@reeve/platform/failure";
import { connectionStateOf } from "@reeve/platform/nats/connection-state";
import { storeStep } from "@reeve/platform/nats/store-steps";
import { configOfStream } from "./config-of-stream.ts";
import { isForbidden, notProvisioned } from "./errors.ts";
import { assertKeepsFullAccount } from "./account/full-account-support.ts";
import { replicasOfNew } from "./new-stream-replicas.ts";
import { assertClusterKeepsReplicas } from "./replication-support.ts";
import { describeShard } from "./shards/describe-shard.ts";
import type { StreamPlace } from "./stream-messages.ts";
import { isUnanswered, retryMs, untilReady } from "./until-ready.ts";

/**
 * The version of the settings that the contracts declare for streams. Increase it with every change of one, so that a process
 * of an older version leaves the newer settings as they are. More subjects need no new version: no process removes one.
 */
const settingsVersion = 1;

/** A cluster without a leader leaves a request unanswered, so each attempt is short. */
const probeMs = 2_000;
/** How many times a stream is changed while other processes change it too. */
const maxChanges = 5;

const managers = new WeakMap<NatsConnection, Promise<JetStreamManager>>();

/**
 * Opens the manager of a connection. Waits for about 10 s for a server that is starting, and for 2 min for a cluster without a
 * leader. All callers share one object, so that a service asks once whether JetStream is ready, and not for each stream and
 * bucket. Throws a Failure of kind `precondition` for an account that this server must not fill.
 */
export function openJetStreamManager(connection: NatsConnection): Promise<JetStreamManager> {
  const known = managers.get(connection);
  if (known !== undefined) return known;
  const opening = storeStep(connection, "JetStream", () => openWhenReady(connection));
  managers.set(connection, opening);
  // The next caller tries again.
  opening.catch(() => managers.delete(connection));
  return opening;
}

async function openWhenReady(connection: NatsConnection): Promise<JetStreamManager> {
  const probe = await jetstreamManager(connection, { timeout: probeMs, checkAPI: false });
  const account = await retry(
    () => probe.getAccountInfo(),
    untilReady(connection, () => true),
    neverAborts,
  );
  await assertKeepsFullAccount(connection, account);
  return await jetstreamManager(connection, { timeout: 5_000, checkAPI: false });
}

/**
 * Creates the stream that a channel declares, or adds the settings that it lacks. Leaves the settings of a newer version as they
 * are. Waits for the store as `openJetStreamManager` does. Throws a Failure of kind `precondition` when several servers keep the
 * stream and one of the cluster must not.
 */
export function ensureStream(
  connection: NatsConnection,
  manager: JetStreamManager,
  channel: ChannelTemplate,
): Promise<StreamPlace> {
  const required = streamConfig(channel);
  const state = connectionStateOf(connection);
  const ensure = () => state.whileConnected(() => ensureConfig(connection, manager, channel));
  const options = untilReady(connection, isUnanswered);
  const step = `stream ${required.name}`;
  return storeStep(connection, step, () => retry(ensure, options, neverAborts));
}

/**
 * Creates `stream`, which is a bucket or the reserve, if it is missing. Waits for a cluster without a leader, or with too few servers for the
 * replicas, and when this process may not create it, for another one to do so: as `ensureStream` does.
 */
export function ensureBucket<Result>(
  connection: NatsConnection,
  stream: string,
  create: () => Promise<Result>,
): Promise<Result> {
  const attempt = async () => {
    try {
      return await create();
    } catch (error) {
      throw isForbidden(error) ? notProvisioned(stream, error) : error;
    }
  };
  const options = untilReady(connection, () => false);
  return storeStep(connection, `stream ${stream}`, () => retry(attempt, options, neverAborts));
}

/** Does what `ensureStream` does, and makes one attempt. */
export async function ensureConfig(
  connection: NatsConnection,
  manager: JetStreamManager,
  channel: ChannelTemplate,
): Promise<StreamPlace> {
  const required = streamConfig(channel);
  const { name } = required;
  const replicas = () => replicasOfNew(connection, manager.streams);
  for (let attempt = 0; attempt < maxChanges; attempt++) {
    const existing = await configOfStream(manager.streams, name);
    const needed = existing === undefined ? required : withoutAdjusted(existing, required, channel);
    if (existing !== undefined && suffices(existing, needed)) {
      const isReplicated = existing.num_replicas > 1;
      if (isReplicated) await assertClusterKeepsReplicas(connection);
      return { name, isReplicated };
    }
    if (attempt > 0) await sleep(retryMs * Math.random(), neverAborts);
    const subjects = [...new Set([...(existing?.subjects ?? []), ...required.subjects])];
    // Another process may change the stream at the same time. Only what the next look finds counts.
    const change = async () =>
      existing === undefined
        ? await manager.streams.add({ ...required, num_replicas: await replicas() })
        : await manager.streams.update(name, { ...(isNewer(existing) ? {} : needed), subjects });
    await change().catch(async (error: unknown) => {
      if (isForbidden(error)) throw notProvisioned(name, error);
      if ((await configOfStream(manager.streams, name)) === undefined) throw error;
    });
  }
  const existing = await configOfStream(manager.streams, name);
  const needed = existing === undefined ? required : withoutAdjusted(existing, required, channel);
  const settings = differences(existing ?? {}, needed).join(", ");
  throw new Failure(
    "precondition",
    ErrorReason.INTERNAL,
    `stream ${name} does not have the ${settings} that this version needs; use nats-server 2.9 or later, and a stream that reeve created`,
  );
}

/** Returns the required settings without the limits that the operator may have changed. */
function withoutAdjusted(
  existing: StreamConfig,
  required: RequiredConfig,
  { stream }: ChannelTemplate,
): RequiredConfig {
  if (stream?.adjustableLimits !== true) return required;
  const { max_age, max_msgs_per_subject } = existing;
  return { ...required, max_age, max_msgs_per_subject };
}

/** Whether a stream can be used as it is: it has all required settings, or the settings and subjects of a newer version. */
function suffices(existing: StreamConfig, required: RequiredConfig): boolean {
  const missing = differences(existing, required);
  return isNewer(existing) ? !missing.includes("subjects") : missing.length === 0;
}

/** Whether a newer version of this program wrote the settings of a stream. */
function isNewer({ description = "" }: StreamConfig): boolean {
  return Number(/^Reeve settings (\d+)/.exec(description)?.[1] ?? 0) > settingsVersion;
}

/** Returns the settings that differ from the required ones. Old servers silently ignore settings that they do not know. */
function differences(existing: Partial<StreamConfig>, required: RequiredConfig): readonly string[] {
  const { subjects, republish, ...plain } = required;
  const different = Object.entries(plain)
    .filter(([setting, value]) => existing[setting as keyof StreamConfig] !== value)
    .map(([setting]) => setting);
  if (!subjects.every((subject) => existing.subjects?.includes(subject))) {
    different.push("subjects");
  }
  if (republish !== undefined && existing.republish?.dest !== republish.dest) {
    different.push("republish");
  }
  return different;
}

type RequiredConfig = Partial<StreamConfig> & Pick<StreamConfig, "name" | "subjects">;

/** Returns the settings of the stream that a channel declares. */
export function streamConfig(channel: ChannelTemplate): RequiredConfig {
  const { stream, shard, wildcard, wildcards, reserved, liveTransform } = channel;
  if (stream === undefined) throw new Error(`${wildcard} declares no stream`);
  const isWorkQueue = stream.retention === Retention.WORK_QUEUE;
  return {
    name: stream.name,
    // Streams of nats-server 2.9 have no metadata.
    description: `Reeve settings ${settingsVersion}${shard === undefined ? "" : `, ${describeShard(shard)}`}`,
    subjects: [...wildcards, ...reserved],
    storage: StorageType.File,
    retention: isWorkQueue ? RetentionPolicy.Workqueue : RetentionPolicy.Limits,
    // A full store refuses new messages: it never drops what it accepted to make room.
    discard: DiscardPolicy.New,
    allow_direct: true,
    ...(stream.maxAge && { max_age: nanos(durationMs(stream.maxAge)) }),
    ...(stream.duplicateWindow && {
      duplicate_window: nanos(durationMs(stream.duplicateWindow)),
    }),
    ...(stream.maxMessagesPerSubject > 0 && {
      max_msgs_per_subject: stream.maxMessagesPerSubject,
    }),
    ...(stream.appendOnly && { deny_delete: true, deny_purge: true }),
    ...(liveTransform !== undefined && { republish: { src: wildcard, dest: liveTransform } }),
  };
}
