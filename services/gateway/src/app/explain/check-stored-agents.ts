import { setImmediate } from "node:timers/promises";
import type { Agent, ModelCatalog } from "@reeve/contracts/agent";
import type { Row } from "@reeve/jetstream/table/port";
import { sleep } from "@reeve/platform/async/sleep";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { checkAgent } from "../agents.ts";
import type { GatewayPorts } from "../gateway-ports.ts";

/** Interval at which the catalog is compared with that of the last check. */
const defaultIntervalMs = 10_000;
/** How many agents one check examines, and how many of them it names. */
const maxAgents = 1_000;
const maxNamed = 50;
const maxProblems = 5;

/** Reasons of violations that name what an agent needs and the deployment does not have. Tools come and go with their hosts. */
const missing: ReadonlySet<string> = new Set([
  "MODEL_NOT_FOUND",
  "AMBIGUOUS_MODEL_REFERENCE",
  "PROVIDER_NOT_FOUND",
  "PLUGIN_NOT_FOUND",
  "INVALID_PLUGIN_CONFIG",
  "SKILL_NOT_FOUND",
  "AGENT_NOT_FOUND",
]);

type CheckPorts = Pick<GatewayPorts, "agents" | "offer" | "policy">;

/**
 * Checks the stored agents of all tenants at the start, and again after the models, providers, plugins, or skills of the deployment have
 * changed, until `signal` aborts. The log warns about each one that starts no runs because something is missing: a person sees it
 * before a run is refused.
 */
export async function watchStoredAgents(
  ports: CheckPorts,
  log: Pick<Logger, "warn">,
  signal: AbortSignal,
  intervalMs = defaultIntervalMs,
): Promise<void> {
  let before: ModelCatalog | undefined;
  let checked: ModelCatalog | undefined;
  for (;;) {
    const { models } = ports.offer();
    // Runtimes that start together announce one after the other: a catalog counts once it is seen twice.
    const isSettled = models === before && models.providers.length > 0;
    before = models;
    if (isSettled && models !== checked) {
      checked = models;
      await checkStoredAgents(ports, log, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        log.warn({ err: error }, "the stored agents cannot be checked");
      });
    }
    await sleep(intervalMs, signal);
  }
}

/** Checks the stored agents once, and warns about those that start no runs. */
export async function checkStoredAgents(
  ports: CheckPorts,
  log: Pick<Logger, "warn">,
  signal: AbortSignal,
): Promise<void> {
  let agents = 0;
  let broken = 0;
  for await (const change of ports.agents.watch("", signal)) {
    if (change.kind === "current") break;
    if (change.kind !== "written") continue;
    if (++agents > maxAgents) {
      log.warn({ maxAgents }, "further stored agents were not checked");
      break;
    }
    // A check takes milliseconds: requests are answered in between.
    await setImmediate();
    const problems = await problemsOf(change.row, ports, signal);
    if (problems.length === 0) continue;
    broken += 1;
    if (broken > maxNamed) continue;
    const [tenant, agentId] = change.row.key.split(".");
    const { revision } = change.row.record;
    log.warn({ tenant, agentId, revision, problems }, "a stored agent starts no runs");
  }
  if (broken > maxNamed) log.warn({ agents: broken }, "more stored agents start no runs");
}

async function problemsOf(
  { key, record: { spec } }: Row<Agent>,
  ports: CheckPorts,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const [tenant = ""] = key.split(".");
  const { checked } = await checkAgent(ports, tenant, { spec, shape: [] }, signal);
  return checked.violations
    .filter(({ reason }) => missing.has(reason))
    .slice(0, maxProblems)
    .map(({ field, description }) => `${field.replace(/^spec\./, "")}: ${description}`);
}
