import { timestampMs } from "@bufbuild/protobuf/wkt";
import { isStoredSkill, storedSkillKey } from "@reeve/agent/skills/skill";
import type { SkillDescriptor } from "@reeve/contracts/agent";
import type { Artifact } from "@reeve/contracts/artifact";
import { artifactIdOf } from "@reeve/jetstream/objects/artifact-draft";
import type { Clock } from "@reeve/platform/async/clock";
import type { GatewayPorts } from "../gateway-ports.ts";

const intervalMs = 86_400_000;
/** How long a version stays after the next one was stored, and how many of each skill stay longer: runs that wait for people may use them. */
const maxAgeMs = 30 * 86_400_000;
const maxEarlier = 3;

type SkillPorts = Pick<GatewayPorts, "agents" | "offer"> & {
  readonly artifacts: Pick<GatewayPorts["artifacts"], "list" | "delete">;
};

/** Deletes once a day the versions of skills that runtimes have stored and that are no longer offered, until `signal` aborts. */
export async function sweepSkills(
  ports: SkillPorts,
  clock: Pick<Clock, "now" | "sleep">,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(intervalMs, signal);
    await deleteEarlierSkills(ports, clock.now(), signal);
  }
}

/**
 * Deletes the stored versions of skills that are no longer offered, were replaced by the next one more than 30 days ago, and are not among
 * the last three of their skill in the tenant. A runtime that still has such a version stores it again when a run needs it.
 */
export async function deleteEarlierSkills(
  { agents, artifacts, offer }: SkillPorts,
  nowMs: number,
  signal: AbortSignal,
): Promise<void> {
  const { providers, skills } = offer().models;
  // Nothing is known of the runtimes.
  if (providers.length === 0) return;
  for (const tenant of await tenantsOf(agents, signal)) {
    const stored = (await artifacts.list(tenant, signal)).filter(isStoredSkill);
    for (const earlier of earlierOf(tenant, stored, skills)) {
      if (earlier.replacedMs >= nowMs - maxAgeMs) continue;
      await artifacts.delete(tenant, earlier.artifactId, signal);
    }
  }
}

interface Earlier extends Pick<Artifact, "artifactId"> {
  /** When the next version was stored: until then, runs were prepared with this one. */
  readonly replacedMs: number;
}

/** Returns the versions that are neither offered nor among the last ones of their skill. */
function earlierOf(
  tenant: string,
  stored: readonly Artifact[],
  offered: readonly SkillDescriptor[],
): readonly Earlier[] {
  const current = new Set(
    offered.map((skill) => {
      const draft = { name: "", mediaType: "", runId: "", idempotencyKey: storedSkillKey(skill) };
      return artifactIdOf(tenant, draft);
    }),
  );
  const ofSkills = Map.groupBy(stored, ({ name }) => name);
  return [...ofSkills.values()].flatMap((versions) =>
    versions
      .toSorted((a, b) => createdMs(b) - createdMs(a))
      .map(({ artifactId }, index, all) => {
        const next = all[index - 1];
        return { artifactId, replacedMs: next === undefined ? Infinity : createdMs(next) };
      })
      .filter(({ artifactId }) => !current.has(artifactId))
      .slice(maxEarlier),
  );
}

function createdMs({ createdAt }: Artifact): number {
  return createdAt === undefined ? Infinity : timestampMs(createdAt);
}

/** Returns the tenants that have agents. */
async function tenantsOf(
  agents: SkillPorts["agents"],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const tenants = new Set<string>();
  for await (const change of agents.watch("", signal)) {
    if (change.kind === "current") break;
    if (change.kind === "written") tenants.add(change.row.key.split(".")[0] ?? "");
  }
  return tenants;
}
