import { getOption } from "@bufbuild/protobuf";
import type { Access } from "@reeve/contracts/bus";
import { Retention, Service, bucket, channel } from "@reeve/contracts/bus";
import { channelOf } from "@reeve/contracts/channel";
import { messagesWithBucket, messagesWithChannel } from "@reeve/contracts/declared";
import { QueueHolderSchema } from "@reeve/contracts/queue";
import type { ServiceName } from "../../../src/access/permissions.ts";
import { serviceNames } from "../../../src/access/permissions.ts";
import { reserveStream } from "../../../src/reserve/reserve-state.ts";

/** Something that a client of NATS may try, and the services that may do it. */
export interface Act {
  readonly kind: "publish" | "subscribe";
  readonly subject: string;
  readonly allowed: ReadonlySet<ServiceName>;
}

/** The services that have each right to a stream, over all messages that it stores. */
interface Rights {
  readonly writers: Set<ServiceName>;
  readonly readers: Set<ServiceName>;
  readonly takers: Set<ServiceName>;
  readonly removers: Set<ServiceName>;
  readonly creators: Set<ServiceName>;
  readonly observers: Set<ServiceName>;
}

interface StoredStream extends Rights {
  readonly name: string;
  readonly isQueue: boolean;
  /** Concrete subjects that it stores. */
  readonly subjects: readonly string[];
}

const nobody: ReadonlySet<ServiceName> = new Set();
const everybody: ReadonlySet<ServiceName> = new Set(serviceNames);

const nameOf = new Map<Service, ServiceName>([
  [Service.GATEWAY, "gateway"],
  [Service.RUNTIME, "runtime"],
  [Service.TOOLHOST, "toolhost"],
  [Service.APPROVALS, "approvals"],
]);

const channels = messagesWithChannel.map((message) => {
  const { wildcards, stream } = channelOf(message);
  const { access, expectsReply, liveSubject } = getOption(message, channel);
  return {
    rights: rightsOf(access),
    subjects: wildcards.map(concrete),
    live: concrete(liveSubject),
    expectsReply,
    stream,
  };
});

/**
 * Returns everything that the contracts name, and what the API of JetStream can do with each stream, bucket, and object store. It
 * follows from the contracts, but not from the code that generates the permissions.
 */
export function contractActs(): readonly Act[] {
  return [
    ...channels.flatMap(actsOfChannel),
    ...storedStreams().flatMap(actsOfStream),
    ...actsOfReserve(),
    ...actsOfInboxes(),
    ...actsOfAccount(),
  ];
}

function actsOfChannel({
  rights,
  subjects,
  live,
  expectsReply,
  stream,
}: (typeof channels)[number]): readonly Act[] {
  const { writers, readers } = rights;
  const replies = serviceNames.flatMap((requester) =>
    subjects.map((subject) => {
      const isAnswered = stream === undefined && expectsReply && writers.has(requester);
      return publish(`_REPLY.${requester}.${subject}.1`, isAnswered ? readers : nobody);
    }),
  );
  return [
    ...replies,
    ...subjects.map((subject) => publish(subject, writers)),
    // What a stream stores is read from the stream.
    ...subjects.map((subject) => subscribe(subject, stream === undefined ? readers : nobody)),
    ...(live === "" ? [] : [publish(live, nobody), subscribe(live, readers)]),
    // Who uses a stream finds out whether the store has shards of it.
    ...(stream?.sharded === true
      ? [publish(api(`STREAM.INFO.${stream.name}_0`), joined(writers, readers))]
      : []),
  ];
}

function storedStreams(): readonly StoredStream[] {
  const streams = new Map<string, StoredStream>();
  const add = (name: string, rights: Rights, subjects: readonly string[], isQueue = false) => {
    const known = streams.get(name);
    const merged = known === undefined ? rights : union(known, rights);
    const all = [...(known?.subjects ?? []), ...subjects];
    streams.set(name, { ...merged, name, subjects: all, isQueue });
  };
  for (const { stream, rights, subjects } of channels) {
    if (stream === undefined) continue;
    add(stream.name, rights, subjects, stream.retention === Retention.WORK_QUEUE);
  }
  for (const message of messagesWithBucket) {
    const { name, key, access, objects } = getOption(message, bucket);
    add(`KV_${name}`, rightsOf(access), [`$KV.${name}.${concrete(key)}`]);
    if (objects === undefined) continue;
    const parts = ["C", "M"].map((part) => `$O.${objects.name}.${part}.x`);
    add(`OBJ_${objects.name}`, rightsOf(objects.access), parts);
  }
  return [...streams.values()];
}

function actsOfStream(stream: StoredStream): readonly Act[] {
  const { name, subjects, isQueue, writers, readers, takers } = stream;
  const { removers, creators, observers } = stream;
  const consuming = joined(readers, takers);
  // A publisher makes sure that its consumer exists, and that the queue still has its messages.
  const looking = joined(consuming, isQueue ? writers : nobody);
  const returning = returnersOf(stream);
  return [
    // The subjects of a channel are acts of the channel.
    ...(name.startsWith("KV_") || name.startsWith("OBJ_")
      ? subjects.flatMap((each) => [publish(each, writers), subscribe(each, nobody)])
      : []),
    publish(api(`STREAM.INFO.${name}`), joined(writers, readers, takers, removers, observers)),
    publish(api(`STREAM.CREATE.${name}`), creators),
    publish(api(`STREAM.PURGE.${name}`), removers),
    publish(api(`STREAM.MSG.DELETE.${name}`), removers),
    publish(api(`STREAM.MSG.GET.${name}`), joined(looking, removers)),
    publish(api(`DIRECT.GET.${name}`), joined(looking, observers)),
    ...subjects.map((each) => publish(api(`DIRECT.GET.${name}.${each}`), looking)),
    ...["UPDATE", "DELETE", "SNAPSHOT", "RESTORE", "LEADER.STEPDOWN", "PEER.REMOVE"].map((each) =>
      publish(api(`STREAM.${each}.${name}`), nobody),
    ),
    publish(api(`CONSUMER.CREATE.${name}`), looking),
    publish(api(`CONSUMER.CREATE.${name}.x`), looking),
    ...subjects.map((each) => publish(api(`CONSUMER.CREATE.${name}.x.${each}`), looking)),
    publish(api(`CONSUMER.INFO.${name}.x`), joined(looking, returning)),
    publish(api(`CONSUMER.DELETE.${name}.x`), consuming),
    publish(api(`CONSUMER.MSG.NEXT.${name}.x`), consuming),
    publish(api(`CONSUMER.LIST.${name}`), joined(takers, observers)),
    ...["DURABLE.CREATE", "LEADER.STEPDOWN", "PAUSE", "RESET", "UNPIN"].map((each) =>
      publish(api(`CONSUMER.${each}.${name}.x`), nobody),
    ),
    publish(api(`CONSUMER.NAMES.${name}`), nobody),
    publish(`$JS.ACK.${name}.x.1.1.1.1.0`, joined(consuming, returning)),
    publish(`$JS.FC.${name}.x.1`, consuming),
  ];
}

/** The services that return messages of a queue whose taker died: those that take from a queue and say which messages they hold. */
function returnersOf({ takers, isQueue }: StoredStream): ReadonlySet<ServiceName> {
  const holders = rightsOf(getOption(QueueHolderSchema, bucket).access).writers;
  const isHeld = isQueue && [...takers].some((taker) => holders.has(taker));
  if (!isHeld) return nobody;
  const all = joined(...channels.map(({ rights }) => rights.takers));
  return new Set([...all].filter((taker) => holders.has(taker)));
}

function actsOfReserve(): readonly Act[] {
  const gateway = new Set<ServiceName>(["gateway"]);
  return [
    publish("reserve.0", gateway),
    publish(`$JS.API.STREAM.INFO.${reserveStream}`, everybody),
    publish(`$JS.API.STREAM.PURGE.${reserveStream}`, everybody),
    ...["CREATE", "UPDATE", "DELETE", "MSG.GET", "MSG.DELETE"].map((each) =>
      publish(`$JS.API.STREAM.${each}.${reserveStream}`, nobody),
    ),
  ];
}

function actsOfInboxes(): readonly Act[] {
  return serviceNames.flatMap((owner) => {
    const own = new Set([owner]);
    // Requesters of an older version wait for all replies in one place.
    const answering = channels.filter(
      ({ stream, expectsReply, rights }) =>
        stream === undefined && expectsReply && rights.writers.has(owner),
    );
    return [
      publish(`_INBOX.${owner}.x`, nobody),
      publish(`_REPLY.${owner}.x`, joined(...answering.map(({ rights }) => rights.readers))),
      publish(`_REPLY.${owner}.x.y`, nobody),
      subscribe(`_INBOX.${owner}.>`, own),
      subscribe(`_REPLY.${owner}.>`, own),
    ];
  });
}

/** What the account, the servers, and wildcards offer. */
function actsOfAccount(): readonly Act[] {
  const requests = [
    "ACCOUNT.PURGE.reeve",
    "ACCOUNT.STREAM.MOVE.reeve.RUNS",
    "ACCOUNT.STREAM.CANCEL_MOVE.reeve.RUNS",
    "META.LEADER.STEPDOWN",
    "SERVER.REMOVE",
    "STREAM.CREATE.other",
    "STREAM.LIST",
    "STREAM.NAMES",
    "STREAM.TEMPLATE.CREATE.other",
    "STREAM.TEMPLATE.NAMES",
  ];
  const wildcards = ["$KV", "$O", "$JS", "$JS.API", "$JS.ACK", "$JS.EVENT", "$SYS", "_INBOX"];
  return [
    publish("$JS.API.INFO", everybody),
    ...requests.map((request) => publish(`$JS.API.${request}`, nobody)),
    publish("$SYS.REQ.SERVER.PING", nobody),
    publish("$SYS.REQ.ACCOUNT.reeve.CONNZ", nobody),
    publish("other", nobody),
    publish("other.subject", nobody),
    ...[">", "*", "*.>", "live.>", "_REPLY.>", ...wildcards.map((each) => `${each}.>`)].map(
      (each) => subscribe(each, nobody),
    ),
  ];
}

function publish(subject: string, allowed: ReadonlySet<ServiceName>): Act {
  return { kind: "publish", subject, allowed };
}

function subscribe(subject: string, allowed: ReadonlySet<ServiceName>): Act {
  return { kind: "subscribe", subject, allowed };
}

function api(request: string): string {
  return `$JS.API.${request}`;
}

/** Returns a subject of a template, or of a subject with wildcards. */
function concrete(template: string): string {
  return template.replaceAll(/\{\w+\}|\*/g, "x");
}

function rightsOf(access: Access | undefined): Rights {
  return {
    writers: named(access?.writers),
    readers: named(access?.readers),
    takers: named(access?.takers),
    removers: named(access?.removers),
    creators: named(access?.creators),
    observers: named(access?.observers),
  };
}

function named(services: readonly Service[] = []): Set<ServiceName> {
  return new Set(services.flatMap((each) => nameOf.get(each) ?? []));
}

function union(a: Rights, b: Rights): Rights {
  return {
    writers: new Set([...a.writers, ...b.writers]),
    readers: new Set([...a.readers, ...b.readers]),
    takers: new Set([...a.takers, ...b.takers]),
    removers: new Set([...a.removers, ...b.removers]),
    creators: new Set([...a.creators, ...b.creators]),
    observers: new Set([...a.observers, ...b.observers]),
  };
}

function joined(...sets: readonly ReadonlySet<ServiceName>[]): ReadonlySet<ServiceName> {
  return new Set(sets.flatMap((each) => [...each]));
}
