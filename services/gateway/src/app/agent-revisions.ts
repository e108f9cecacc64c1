import { toBinary } from "@bufbuild/protobuf";
import type { Agent } from "@reeve/contracts/agent";
import { AgentSchema } from "@reeve/contracts/agent";
import { bucketOf } from "@reeve/contracts/channel";
import { ErrorReason } from "@reeve/contracts/error";
import type { Page, PageRequest } from "@reeve/jetstream/table/page";
import {
  invalidPageToken,
  keyOfToken,
  maxPageBytes,
  pageSizeOf,
  tokenOf,
} from "@reeve/jetstream/table/page";
import { KeyedSemaphore } from "@reeve/platform/async/coordination/keyed-semaphore";
import { Failure } from "@reeve/platform/failure";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { agentNotFound } from "./agents.ts";
import type { GatewayPorts } from "./gateway-ports.ts";

/** What the revisions of agents are read with. */
export interface RevisionPorts extends Pick<GatewayPorts, "agents"> {
  /** Limits the concurrent reads of a process: each holds up to 32 MiB. */
  readonly reads: KeyedSemaphore;
  readonly log: Pick<Logger, "warn">;
}

const { key: agentKey } = bucketOf(AgentSchema);
const retryAfterMs = 1_000;

/** Returns the limit of concurrent reads of a process. */
export function limitRevisionReads(): KeyedSemaphore {
  return new KeyedSemaphore({ permits: 4, permitsPerKey: 2, maxWaitingPerKey: 20 });
}

/**
 * Returns a page of the stored revisions of an agent, the newest first, without earlier ones that cannot be read. Throws a Failure
 * if the agent does not exist.
 */
export async function listAgentRevisions(
  { agents, reads, log }: RevisionPorts,
  tenant: string,
  { agentId, ...page }: PageRequest & { readonly agentId: string },
  signal: AbortSignal,
): Promise<Page<Agent>> {
  const before = revisionOf(page.pageToken);
  using permit = await reads.acquire(tenant, signal);
  if (permit === undefined) throw tooManyReads();
  const key = agentKey({ tenant, agent: agentId });
  const size = pageSizeOf(page);
  const items: Agent[] = [];
  let room = maxPageBytes;
  let last: number | undefined;
  for await (const version of agents.versions(key, { before }, signal)) {
    if (version.kind === "unreadable") {
      const { revision, error } = version;
      log.warn({ err: error, tenant, agentId, revision }, "a revision of an agent left out");
      continue;
    }
    const { record, revision } = version.row;
    room -= toBinary(AgentSchema, record).length;
    if (last !== undefined && (items.length === size || room < 0)) {
      return { items, nextPageToken: tokenOf(`r${last}`) };
    }
    items.push(record);
    last = revision;
  }
  const exists = items.length > 0 || (await agents.get(key, signal)) !== undefined;
  if (!exists) throw agentNotFound(agentId);
  return { items, nextPageToken: "" };
}

/** Returns the revision of the table that a token holds; undefined for the first page. */
function revisionOf(token: string): number | undefined {
  const key = keyOfToken(token);
  if (key === undefined) return undefined;
  if (!/^r\d{1,15}$/.test(key)) throw invalidPageToken();
  return Number(key.slice(1));
}

function tooManyReads(): Failure {
  return new Failure(
    "unavailable",
    ErrorReason.UNAVAILABLE,
    "too many revisions of agents are being read; try again in a second",
    { retryAfterMs },
  );
}
