import { getOption } from "@bufbuild/protobuf";
import type { Access, Bucket, Channel } from "@reeve/contracts/bus";
import { Retention, Service, bucket, channel } from "@reeve/contracts/bus";
import { messagesWithBucket, messagesWithChannel } from "@reeve/contracts/declared";
import { QueueHolderSchema } from "@reeve/contracts/queue";
import { inboxPrefixes, replyPrefix } from "@reeve/platform/nats/inbox";
import { reserveStream } from "../reserve/reserve-state.ts";
import { channelsOfShards } from "../streams/shards/find-shards.ts";

/** What a user of NATS may do. The server refuses everything else. */
export interface Permissions {
  /** Subjects to which the user may publish. The API of JetStream consists of such subjects. */
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/** The name of each service as a user of NATS. */
const services = {
  gateway: Service.GATEWAY,
  runtime: Service.RUNTIME,
  toolhost: Service.TOOLHOST,
  approvals: Service.APPROVALS,
} as const;

export type ServiceName = keyof typeof services;

export const serviceNames = Object.keys(services) as readonly ServiceName[];

const api = "$JS.API";
const channels = channelsOf(1);
const queueChannels = channels.filter(({ stream }) => stream?.retention === Retention.WORK_QUEUE);
const workQueues = new Set(queueChannels.map(({ stream }) => stream?.name ?? ""));
/** The services that say which messages they hold, so that one of them returns those of another that died. */
const holders = new Set(getOption(QueueHolderSchema, bucket).access?.writers);
/** The queues whose messages have such holders. */
const heldQueues = new Set(
  queueChannels
    .filter(({ access }) => access?.takers.some((taker) => holders.has(taker)))
    .map(({ stream }) => stream?.name ?? ""),
);

/** Returns what a service may do in a store with so many shards, as the contracts declare it. */
export function permissionsOf(name: ServiceName, runShards = 1): Permissions {
  const service = services[name];
  const granted = [
    ...channelsOf(runShards).map((each) => ofChannel(each, service)),
    ...messagesWithBucket.map((message) => ofBucket(getOption(message, bucket), service)),
  ];
  const inboxes = inboxPrefixes(name);
  const publish = granted.flatMap((each) => each.publish ?? []);
  const subscribe = granted.flatMap((each) => each.subscribe ?? []);
  return {
    publish: sortedUnique([`${api}.INFO`, ...ofReserve(service), ...publish]),
    subscribe: sortedUnique([`${inboxes.store}.>`, `${inboxes.services}.>`, ...subscribe]),
  };
}

type Granted = Partial<Permissions>;

interface DeclaredChannel extends Channel {
  readonly wildcard: string;
  readonly wildcards: readonly string[];
  /** Streams for which a service looks to find out how many shards the store has. */
  readonly lookups: readonly string[];
}

/** Returns all channels, and those of each shard in place of one that has shards. */
function channelsOf(runShards: number): readonly DeclaredChannel[] {
  return messagesWithChannel.flatMap((message) => {
    const declared = getOption(message, channel);
    const isSharded = declared.stream?.sharded === true;
    const name = declared.stream?.name ?? "";
    return channelsOfShards(message, isSharded ? runShards : 1).map((each) => ({
      ...declared,
      ...(each.stream && { stream: each.stream }),
      wildcard: each.wildcard,
      wildcards: each.wildcards,
      lookups: isSharded ? [name, `${name}_0`] : [],
    }));
  });
}

function ofChannel(
  { wildcard, wildcards, lookups, liveSubject, stream, access, expectsReply }: DeclaredChannel,
  service: Service,
): Granted {
  const { writes, reads, takes, removes, observes } = rightsOf(access, service);
  if (stream === undefined) {
    const replies =
      reads && expectsReply
        ? writersOf(access).flatMap((name) => {
            const inboxes = inboxPrefixes(name);
            // A requester of an older version waits there. During an update, both versions need their replies.
            return [`${replyPrefix(inboxes, wildcard)}.>`, `${inboxes.services}.*`];
          })
        : [];
    return {
      publish: [...(writes ? [wildcard] : []), ...replies],
      subscribe: reads ? [wildcard] : [],
    };
  }
  const { name } = stream;
  const isQueue = workQueues.has(name);
  return {
    publish: [
      ...(writes || reads || takes || observes ? lookups.flatMap(info) : []),
      ...(writes ? [...wildcards, ...info(name)] : []),
      // A publisher makes sure that its consumer exists, and that the queue still has its messages.
      ...(writes && isQueue ? [...messages(name), ...consumers(name, ["CREATE", "INFO"])] : []),
      ...(reads ? reading(name) : []),
      ...(takes ? [...reading(name), `${api}.CONSUMER.LIST.${name}`] : []),
      ...(takes && holders.has(service) ? [...heldQueues].flatMap(returning) : []),
      ...(removes ? removing(name) : []),
      ...(observes ? observing(name) : []),
    ],
    subscribe: reads && liveSubject !== "" ? [liveSubject.replaceAll(/\{\w+\}/g, "*")] : [],
  };
}

function ofBucket({ name, access, objects }: Bucket, service: Service): Granted {
  const records = ofStore({ stream: `KV_${name}`, subject: `$KV.${name}.>` }, access, service);
  const { access: objectAccess, name: store } = objects ?? {};
  const place = { stream: `OBJ_${store}`, subject: `$O.${store}.>` };
  const bytes = store === undefined ? [] : ofStore(place, objectAccess, service);
  return { publish: [...records, ...bytes] };
}

/** Where the records of a bucket, or the bytes of an object store, are stored. */
interface StorePlace {
  readonly stream: string;
  readonly subject: string;
}

function ofStore(
  { stream, subject }: StorePlace,
  access: Access | undefined,
  service: Service,
): readonly string[] {
  const { writes, reads, removes, creates } = rightsOf(access, service);
  return [
    ...(writes ? [subject, ...info(stream)] : []),
    ...(reads ? reading(stream) : []),
    ...(removes ? removing(stream) : []),
    ...(creates ? [`${api}.STREAM.CREATE.${stream}`] : []),
  ];
}

/** The gateways fill the reserve of the store, and every service may use it. */
function ofReserve(service: Service): readonly string[] {
  return [
    ...info(reserveStream),
    `${api}.STREAM.PURGE.${reserveStream}`,
    ...(service === Service.GATEWAY ? ["reserve.*"] : []),
  ];
}

function rightsOf(access: Access | undefined, service: Service) {
  return {
    writes: access?.writers.includes(service) ?? false,
    reads: access?.readers.includes(service) ?? false,
    takes: access?.takers.includes(service) ?? false,
    removes: access?.removers.includes(service) ?? false,
    creates: access?.creators.includes(service) ?? false,
    observes: access?.observers.includes(service) ?? false,
  };
}

function writersOf(access: Access | undefined): readonly ServiceName[] {
  return serviceNames.filter((name) => access?.writers.includes(services[name]));
}

function info(stream: string): readonly string[] {
  return [`${api}.STREAM.INFO.${stream}`];
}

function messages(stream: string): readonly string[] {
  return [
    `${api}.DIRECT.GET.${stream}`,
    `${api}.DIRECT.GET.${stream}.>`,
    `${api}.STREAM.MSG.GET.${stream}`,
  ];
}

function consumers(stream: string, requests: readonly string[]): readonly string[] {
  return [
    `${api}.CONSUMER.CREATE.${stream}`,
    ...requests.map((request) => `${api}.CONSUMER.${request}.${stream}.>`),
  ];
}

function reading(stream: string): readonly string[] {
  const acknowledgements = [`$JS.ACK.${stream}.>`, `$JS.FC.${stream}.>`];
  const requests = consumers(stream, ["CREATE", "INFO", "DELETE", "MSG.NEXT"]);
  return [...info(stream), ...messages(stream), ...requests, ...acknowledgements];
}

/** What returns the messages of a dead taker to a queue. */
function returning(stream: string): readonly string[] {
  return [`${api}.CONSUMER.INFO.${stream}.>`, `$JS.ACK.${stream}.>`];
}

/** What shows how many messages a queue has, and since when the oldest one waits. */
function observing(stream: string): readonly string[] {
  return [...info(stream), `${api}.CONSUMER.LIST.${stream}`, `${api}.DIRECT.GET.${stream}`];
}

function removing(stream: string): readonly string[] {
  return [
    ...info(stream),
    `${api}.STREAM.PURGE.${stream}`,
    `${api}.STREAM.MSG.DELETE.${stream}`,
    `${api}.STREAM.MSG.GET.${stream}`,
  ];
}

function sortedUnique(subjects: readonly string[]): readonly string[] {
  return [...new Set(subjects)].toSorted();
}
