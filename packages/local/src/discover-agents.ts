import type { AgentSpec } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import { abortable } from "@reeve/platform/async/abortable";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { reasonName } from "@reeve/platform/reason-name";
import { placeOf, violationsAt } from "@reeve/agent/registry/part-collection";

const defaultTimeoutMs = 30_000;
/** A source with more agents is refused: each of them is checked. */
const maxAgents = 1_000;

/** Where agents of other servers are found. */
export interface AgentSource {
  /** Identifies the source in problems, for example the address of its server. */
  readonly name: string;
  /** Returns the agents of now. Throws a Failure if they cannot be listed. */
  listAgents(signal: AbortSignal): Promise<readonly AgentSpec[]>;
}

/** What sources have, beside what is local. */
export interface DiscoveredAgents {
  /** In the order of the sources. No two have the same id, and none has that of a local agent. */
  readonly agents: readonly AgentSpec[];
  readonly problems: readonly Violation[];
}

interface DiscoverOptions {
  /** The ids of the local agents, which win. */
  readonly localIds: ReadonlySet<string>;
  /** How long each source may take, in milliseconds. Default: 30 seconds. */
  readonly timeoutMs?: number;
}

/**
 * Lists the agents of all sources, at the same time. A source that cannot be listed, and an id that two sources have, is a problem by
 * name. Rejects with the reason of `signal`.
 */
export async function discoverAgents(
  sources: readonly AgentSource[],
  { localIds, timeoutMs = defaultTimeoutMs }: DiscoverOptions,
  signal: AbortSignal,
): Promise<DiscoveredAgents> {
  const listed = await Promise.all(
    sources.map(async (source) => ({ source, ...(await listOf(source, timeoutMs, signal)) })),
  );
  const problems = listed.flatMap((each) => each.problems);
  const owners = new Map<string, string>();
  const agents: AgentSpec[] = [];
  for (const { source, found } of listed) {
    for (const agent of found) {
      // A plain id is that of the local agent.
      if (localIds.has(agent.id)) continue;
      const owner = owners.get(agent.id);
      if (owner === undefined) {
        owners.set(agent.id, source.name);
        agents.push(agent);
        continue;
      }
      const description = `the sources ${owner} and ${source.name} both have an agent "${agent.id}"; leave one source out, or add a local agent with this id`;
      problems.push({ field: placeOf("agents", agent.id), description, reason: "AMBIGUOUS_AGENT" });
    }
  }
  return { agents, problems };
}

async function listOf(
  source: AgentSource,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<{ readonly found: readonly AgentSpec[]; readonly problems: readonly Violation[] }> {
  const place = placeOf("sources", source.name);
  const limit = AbortSignal.timeout(timeoutMs);
  try {
    const bounded = AbortSignal.any([signal, limit]);
    // A source that ignores its signal must not hold up the others.
    const found = await abortable(source.listAgents(bounded), bounded);
    if (found.length <= maxAgents) return { found, problems: [] };
    const description = `has ${found.length} agents, more than ${maxAgents}`;
    return { found: [], problems: [{ field: place, description, reason: "TOO_MANY" }] };
  } catch (error) {
    signal.throwIfAborted();
    return { found: [], problems: problemsOf(place, error, limit.aborted, timeoutMs) };
  }
}

function problemsOf(
  place: string,
  error: unknown,
  isLate: boolean,
  timeoutMs: number,
): readonly Violation[] {
  const reason = reasonName(error instanceof Failure ? error.reason : ErrorReason.UNAVAILABLE);
  if (isLate) {
    const description = `did not answer within ${timeoutMs} ms`;
    return [{ field: place, description, reason: reasonName(ErrorReason.UNAVAILABLE) }];
  }
  if (error instanceof Failure && error.violations.length > 0) {
    return violationsAt(place, error.violations);
  }
  const description = error instanceof Error ? error.message : String(error);
  return [{ field: place, description, reason }];
}
