import type { WireRequest } from "./nats-tap.ts";

/** What a request to NATS is for, as the counts of a run are grouped. */
export type RequestGroup = (typeof groups)[number][0] | "other";

const store = "\\$JS\\.API\\.(?:DIRECT\\.GET|STREAM\\.MSG\\.GET|CONSUMER\\.(?:CREATE|DELETE))\\.";

/** Requests that processes repeat at their own pace, whatever the runs do: presence, leases, pulls of work, and measures of queues. */
const periodic = [
  /^\$JS\.API\.CONSUMER\.(?:MSG\.NEXT|INFO|LIST|NAMES)\./,
  /^\$JS\.API\.STREAM\.(?:INFO|LIST|NAMES)(?:\.|$)/,
  /^\$JS\.API\.INFO$/,
  /^\$KV\.(?:toolhosts|workers|sweepers|queue_holders|models|tools|quota_usage)\./,
  /^\$KV\.projections\.(?:runs|threads|approvals|retention)$/,
  /^\$JS\.API\.STREAM\.MSG\.GET\.KV_(?:toolhosts|workers|sweepers|queue_holders|projections)$/,
  /^reserve\./,
  /\.probe$/,
  /^run\.(?:liveness|existence)$/,
  /^_(?:INBOX|REPLY)\./,
];

const groups = [
  ["append to the log", "PUB", /^run\.[^.]+\.[^.]+\.log$/],
  ["read of the log", "PUB", new RegExp(`^${store}RUNS(?:\\.|$)`)],
  ["acknowledgement of the log", "PUB", /^\$JS\.ACK\.RUNS\./],
  ["position of a feed", "PUB", /^\$KV\.projections\./],
  ["write of the row", "PUB", /^\$KV\.runs\./],
  ["read of the row", "PUB", new RegExp(`^${store}KV_runs(?:\\.|$)`)],
  ["read of the agent", "PUB", new RegExp(`^${store}KV_agents(?:\\.|$)`)],
  ["dispatch", "PUB", /^dispatch\./],
  ["acknowledgement of the dispatch", "PUB", /^\$JS\.ACK\.DISPATCH\./],
  ["call of a tool", "PUB", /^tool\.call\./],
  ["acknowledgement of the call", "PUB", /^\$JS\.ACK\.TOOL_CALLS\./],
  ["append to the journal", "PUB", /^tool\.journal\./],
  ["read of the journal", "PUB", new RegExp(`^${store}TOOL_JOURNAL(?:\\.|$)`)],
  ["event of the audit trail", "PUB", /^audit\./],
  ["subscription", "SUB", /^live\./],
  ["end of a subscription", "UNSUB", /^live\./],
] as const;

/** Returns the group of a request; undefined for one that does not belong to a run. */
function groupOf({ verb, subject, payload }: WireRequest): RequestGroup | undefined {
  if (periodic.some((pattern) => pattern.test(subject))) return undefined;
  // The extension of a lease, which depends on the time that a run takes.
  if (subject.startsWith("$JS.ACK.") && payload === "+WPI") return undefined;
  const found = groups.find(([, of, pattern]) => of === verb && pattern.test(subject));
  return found?.[0] ?? "other";
}

export type RequestCounts = Readonly<Partial<Record<RequestGroup, number>>>;

/** Returns how many requests of each group there are. */
export function countByGroup(requests: readonly WireRequest[]): RequestCounts {
  const counts: Partial<Record<RequestGroup, number>> = {};
  for (const request of requests) {
    const group = groupOf(request);
    if (group !== undefined) counts[group] = (counts[group] ?? 0) + 1;
  }
  return counts;
}

/** Returns the requests that belong to no known group, for the message of a failed test. */
export function unknownIn(requests: readonly WireRequest[]): readonly string[] {
  const unknown = requests.filter((request) => groupOf(request) === "other");
  return unknown.map(({ client, verb, subject }) => `${client}: ${verb} ${subject}`);
}
