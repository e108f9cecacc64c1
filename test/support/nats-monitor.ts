import { z } from "zod";

/** How long a server may take to answer. A paused server does not answer. */
const timeoutMs = 2_000;

const answer = z.object({
  meta_cluster: z.object({ leader: z.string().optional() }).optional(),
  account_details: z
    .array(
      z.object({
        stream_detail: z
          .array(
            z.object({
              name: z.string(),
              cluster: z
                .object({
                  leader: z.string().optional(),
                  replicas: z.array(z.object({ current: z.boolean() })).optional(),
                })
                .optional(),
            }),
          )
          .optional(),
      }),
    )
    .optional(),
});

/** What one server knows about a stream. */
interface StreamSeen {
  readonly leader: string | undefined;
  /** How many other servers have all of it. Only the leader knows. */
  readonly current: number;
}

/** Returns the leader of the cluster as a server knows it, or undefined when it knows none or does not answer. */
export async function metaLeaderSeenBy(server: {
  readonly monitorPort: number;
}): Promise<string | undefined> {
  const leader = (await jetStreamOf(server))?.meta_cluster?.leader;
  return leader === "" ? undefined : leader;
}

/** Returns what a server knows about a stream, or undefined when it has no replica or does not answer. */
export async function streamSeenBy(
  server: { readonly monitorPort: number },
  stream: string,
): Promise<StreamSeen | undefined> {
  const found = (await jetStreamOf(server))?.account_details
    ?.flatMap(({ stream_detail: streams }) => streams ?? [])
    .find(({ name }) => name === stream);
  if (found === undefined) return undefined;
  const replicas = found.cluster?.replicas ?? [];
  return {
    leader: found.cluster?.leader,
    current: replicas.filter(({ current }) => current).length,
  };
}

/** Returns how many other servers have all of a stream, as its leader knows; undefined without one. */
export async function copiesOf(
  servers: readonly { readonly name: string; readonly monitorPort: number }[],
  stream: string,
): Promise<number | undefined> {
  const seen = await Promise.all(servers.map((server) => streamSeenBy(server, stream)));
  return seen.find((view, index) => view?.leader === servers[index]?.name)?.current;
}

/** Returns the names of the streams of which one of the servers has a copy. */
export async function streamsOf(
  servers: readonly { readonly monitorPort: number }[],
): Promise<ReadonlySet<string>> {
  const seen = await Promise.all(servers.map((server) => jetStreamOf(server)));
  const accounts = seen.flatMap((answered) => answered?.account_details ?? []);
  const names = accounts.flatMap(({ stream_detail: streams }) => streams ?? []);
  return new Set(names.map(({ name }) => name));
}

async function jetStreamOf({ monitorPort }: { readonly monitorPort: number }) {
  try {
    const url = `http://127.0.0.1:${monitorPort}/jsz?streams=true`;
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
    return answer.parse(await response.json());
  } catch {
    return undefined;
  }
}
