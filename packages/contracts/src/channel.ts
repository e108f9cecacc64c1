import type { DescMessage } from "@bufbuild/protobuf";
import { getOption, hasOption } from "@bufbuild/protobuf";
import { durationMs } from "@bufbuild/protobuf/wkt";
import type { Channel, Stream } from "./bus.ts";
import { bucket, channel } from "./bus.ts";
import { oncePerDescriptor } from "./once-per-descriptor.ts";
import type { Tokens } from "./coordination/subject-template.ts";
import { subjectTemplate } from "./coordination/subject-template.ts";

export { isToken } from "./coordination/subject-template.ts";
export type { Tokens } from "./coordination/subject-template.ts";

/** Where a message is published, as its descriptor declares. */
export interface ChannelTemplate {
  /**
   * Returns the subject for a set of tokens. Throws a RangeError when a token is missing, or has characters that a subject cannot
   * have.
   */
  subject(tokens: Tokens): string;
  /** Returns the subject on which a committed message is republished. Throws when the channel does not republish. */
  liveSubject(tokens: Tokens): string;
  /** Returns the tokens of a concrete subject, or undefined when it does not belong to this channel. */
  tokensOf(subject: string): Tokens | undefined;
  /** The subject with a wildcard for each token. */
  readonly wildcard: string;
  /** Returns the subject with a wildcard for each token that is not given. Throws a RangeError as `subject` does. */
  filter(tokens: Tokens): string;
  /** The destination of republished messages in JetStream's notation: `live.run.{{wildcard(1)}}.log`. */
  readonly liveTransform: string | undefined;
  readonly stream: Stream | undefined;
  /** The lanes of the work queue. Undefined: it has none. */
  readonly lanes: LanesTemplate | undefined;
  /** The wildcards of all subjects: that of the channel, and that of its lanes. */
  readonly wildcards: readonly string[];
  /** The part of the messages that the channel has. Undefined: it has all of them. */
  readonly shard: Shard | undefined;
  /** Further subjects of the stream, on which nobody publishes, so that no other stream can have them. */
  readonly reserved: readonly string[];
}

/** One of the streams over which a store spreads the messages of a channel. */
export interface Shard {
  /** From 0. */
  readonly index: number;
  readonly count: number;
}

/** The lanes of a work queue, as the descriptor of its messages declares them. */
export interface LanesTemplate {
  readonly count: number;
  /** Returns the subject of a tenant's messages in a lane, from 0 to `count - 1`. Throws like that of the channel. */
  subject(lane: number, tenant: string): string;
  /** Returns the wildcard of all messages in a lane. */
  wildcard(lane: number): string;
}

/** Returns the channel that `schema` declares. Throws when it declares none, which is a bug in the contracts. */
export const channelOf: (schema: DescMessage) => ChannelTemplate = oncePerDescriptor(readChannel);

/**
 * Returns the channel of one shard of a store with several. Its subjects and its stream differ from those of the whole channel; the
 * live subjects do not. The first shard reserves the subjects of a store without shards: a version that knows no shards cannot create
 * its stream beside them.
 */
export function shardChannel(schema: DescMessage, shard: Shard): ChannelTemplate {
  const declared = declaredChannel(schema);
  const { subject, stream } = declared;
  if (stream?.sharded !== true) throw new Error(`${schema.typeName} has no shards`);
  return {
    ...templateOf({
      ...declared,
      subject: `${subject}.${shard.index}`,
      stream: { ...stream, name: `${stream.name}_${shard.index}` },
    }),
    shard,
    reserved: shard.index === 0 ? [wildcardOf(subject)] : [],
  };
}

function declaredChannel(schema: DescMessage): Channel {
  if (!hasOption(schema, channel)) throw new Error(`${schema.typeName} declares no channel`);
  return getOption(schema, channel);
}

function readChannel(schema: DescMessage): ChannelTemplate {
  return templateOf(declaredChannel(schema));
}

function templateOf({ subject, liveSubject, stream, lanes }: Channel): ChannelTemplate {
  const live = liveSubject === "" ? undefined : liveSubject;
  const { render, match } = subjectTemplate(subject);
  const liveTemplate = live === undefined ? undefined : subjectTemplate(live);
  const laneTemplate = subjectTemplate(lanes?.subject ?? "");
  return {
    subject: render,
    liveSubject: (tokens) => {
      if (liveTemplate === undefined) throw new Error(`${subject} is not republished`);
      return liveTemplate.render(tokens);
    },
    tokensOf: match,
    wildcard: wildcardOf(subject),
    filter: (tokens) => filterOf(subject, tokens),
    wildcards: [subject, ...(lanes === undefined ? [] : [lanes.subject])].map(wildcardOf),
    liveTransform: live && transform(live),
    stream,
    shard: undefined,
    reserved: [],
    lanes: lanes && {
      count: lanes.count,
      subject: (lane, tenant) => laneTemplate.render({ lane: String(lane), tenant }),
      wildcard: (lane) => wildcardOf(lanes.subject.replace("{lane}", String(lane))),
    },
  };
}

/** The key-value bucket that stores a message, as its descriptor declares. */
export interface BucketTemplate {
  readonly name: string;
  /** How many versions of each key the bucket keeps. */
  readonly history: number;
  /** Whether its records are encrypted if the deployment has keys. The first token of a key is then the tenant. */
  readonly isSealed: boolean;
  /** How long the bucket keeps a version, in milliseconds. Undefined: forever. */
  readonly maxAgeMs: number | undefined;
  key(tokens: Tokens): string;
  tokensOf(key: string): Tokens | undefined;
}

/** Returns the bucket that `schema` declares. Throws when it declares none, which is a bug in the contracts. */
export const bucketOf: (schema: DescMessage) => BucketTemplate = oncePerDescriptor(readBucket);

function readBucket(schema: DescMessage): BucketTemplate {
  if (!hasOption(schema, bucket)) throw new Error(`${schema.typeName} declares no bucket`);
  const { name, key, history, maxAge, sealed } = getOption(schema, bucket);
  const { render, match } = subjectTemplate(key);
  return {
    name,
    history: Math.max(history, 1),
    isSealed: sealed,
    maxAgeMs: maxAge && durationMs(maxAge),
    key: render,
    tokensOf: match,
  };
}

/** Returns the name of the object store with the bytes of the records of a bucket. Throws when `schema` declares none. */
export function objectStoreOf(schema: DescMessage): string {
  const { name = "" } = hasOption(schema, bucket) ? (getOption(schema, bucket).objects ?? {}) : {};
  if (name === "") throw new Error(`${schema.typeName} declares no object store`);
  return name;
}

const placeholder = /\{(\w+)\}/g;

function wildcardOf(template: string): string {
  return template.replace(placeholder, "*");
}

function filterOf(template: string, tokens: Tokens): string {
  const given = (name: string) => Object.hasOwn(tokens, name);
  const wanted = template.replace(placeholder, (whole, name: string) =>
    given(name) ? whole : "*",
  );
  return subjectTemplate(wanted).render(tokens);
}

function transform(live: string): string {
  let position = 0;
  return live.replace(placeholder, () => `{{wildcard(${++position})}}`);
}
