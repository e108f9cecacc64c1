import { equals } from "@bufbuild/protobuf";
import type { Agent, AgentSpec } from "@reeve/client";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { delegateOrder } from "./delegate-order.ts";
import type { FileProblem } from "./read-agent-files.ts";
import type { RegistryPlan } from "./registry-plan.ts";

/** What is done with one agent. */
export type AgentChange =
  | {
      readonly action: "create";
      readonly agentId: string;
      readonly file: string;
      readonly spec: AgentSpec;
    }
  | {
      readonly action: "update" | "unchanged";
      readonly agentId: string;
      readonly file: string;
      readonly spec: AgentSpec;
      readonly stored: Agent;
    }
  | { readonly action: "delete"; readonly agentId: string; readonly stored: Agent };

/** A valid spec in the form in which it is stored, and its file. */
export interface PlannedFile {
  readonly file: string;
  readonly spec: AgentSpec;
}

/** Which agents belong together. */
export interface PlanOptions {
  /** The set of agents that the files are. Undefined: none. */
  readonly set: string | undefined;
  /** Whether agents of the set without a file are deleted. */
  readonly prune: boolean;
}

export interface ApplyPlan {
  /** What is done with stored models and providers. Undefined: no file has some. */
  readonly registry?: RegistryPlan | undefined;
  /** In the order in which they are made: an agent follows those that it calls, and deletions come last, callers first. */
  readonly changes: readonly AgentChange[];
  readonly problems: readonly FileProblem[];
  readonly warnings: readonly string[];
}

/** Returns what makes the stored agents equal to the files. */
export function planChanges(
  files: readonly PlannedFile[],
  stored: readonly Agent[],
  { set, prune }: PlanOptions,
): ApplyPlan {
  const before = new Map(stored.map((agent) => [agent.spec?.id ?? "", agent]));
  const kept = new Set(files.map(({ spec }) => spec.id));
  const removed = stored.filter(
    ({ spec, managedBy }) =>
      prune && set !== undefined && managedBy === set && !kept.has(spec?.id ?? ""),
  );
  const specs = stored.flatMap(({ spec }) => spec ?? []);
  const byId = new Map(files.map((planned) => [planned.spec.id, planned]));
  const order = delegateOrder(
    files.map(({ spec }) => spec),
    specs,
  );
  const changes = order.flatMap((id): readonly AgentChange[] => {
    const planned = byId.get(id);
    return planned === undefined ? [] : [changeOf(planned, before.get(id))];
  });
  const removedSpecs = removed.flatMap(({ spec }) => spec ?? []);
  const deletions = delegateOrder(removedSpecs, specs)
    .toReversed()
    .flatMap((agentId): readonly AgentChange[] => {
      const agent = before.get(agentId);
      return agent === undefined ? [] : [{ action: "delete", agentId, stored: agent }];
    });
  const gone = new Set(removedSpecs.map(({ id }) => id));
  return {
    changes: [...changes, ...deletions],
    problems: [...ownedByOthers(files, before, set), ...callsOfRemoved(files, gone)],
    warnings: [...unmarked(files, before, set), ...otherCallers(specs, { kept, gone })],
  };
}

function changeOf({ file, spec }: PlannedFile, stored: Agent | undefined): AgentChange {
  const agentId = spec.id;
  if (stored === undefined) return { action: "create", agentId, file, spec };
  const isEqual = stored.spec !== undefined && equals(AgentSpecSchema, stored.spec, spec);
  return { action: isEqual ? "unchanged" : "update", agentId, file, spec, stored };
}

/** Two sets that both have an agent would undo each other's changes. */
function ownedByOthers(
  files: readonly PlannedFile[],
  before: ReadonlyMap<string, Agent>,
  set: string | undefined,
): readonly FileProblem[] {
  return files.flatMap(({ file, spec: { id } }) => {
    const owner = before.get(id)?.managedBy ?? "";
    if (set === undefined || owner === "" || owner === set) return [];
    const description = `agent "${id}" belongs to the set "${owner}"; remove its file here, or delete the agent first`;
    return [{ file, field: "id", description, reason: "OTHER_SET" }];
  });
}

function callsOfRemoved(
  files: readonly PlannedFile[],
  gone: ReadonlySet<string>,
): readonly FileProblem[] {
  return files.flatMap(({ file, spec }) =>
    spec.delegates.flatMap((id, index) => {
      if (!gone.has(id)) return [];
      const description = `agent "${id}" has no file, and would be deleted; add its file, or remove it here`;
      return [{ file, field: `delegates[${index}]`, description, reason: "AGENT_NOT_FOUND" }];
    }),
  );
}

function unmarked(
  files: readonly PlannedFile[],
  before: ReadonlyMap<string, Agent>,
  set: string | undefined,
): readonly string[] {
  return files.flatMap(({ file, spec: { id } }) => {
    const agent = before.get(id);
    if (agent === undefined || agent.managedBy === (set ?? "")) return [];
    if (set === undefined) {
      return [
        `${file}: agent ${id} belongs to the set "${agent.managedBy}", whose next apply replaces it`,
      ];
    }
    return agent.managedBy === ""
      ? [
          `${file}: agent ${id} was not created by an apply of the set "${set}", so that --prune never deletes it`,
        ]
      : [];
  });
}

/** Agents that nothing here changes, and that call one that is deleted. */
function otherCallers(
  specs: readonly AgentSpec[],
  { kept, gone }: { readonly kept: ReadonlySet<string>; readonly gone: ReadonlySet<string> },
): readonly string[] {
  return specs.flatMap(({ id, delegates }) => {
    const lost = delegates.filter((delegate) => gone.has(delegate));
    if (lost.length === 0 || kept.has(id) || gone.has(id)) return [];
    return [`agent ${id} calls ${lost.join(", ")}, and will not start runs without it`];
  });
}
