import type { RunModel } from "./run-model.ts";

/** What a run has cost, by who spent it, in US dollars. */
export interface CostParts {
  /** The agent itself, with its planner. */
  readonly ownUsd: number;
  readonly subtasksUsd: number;
  /** Of several subtasks that cost something, the one whose own model calls cost most. Undefined: there are not several. */
  readonly most: { readonly title: string; readonly ownUsd: number } | undefined;
}

export function costParts({ root, frames }: RunModel): CostParts {
  const subtasks = [...frames.values()].filter(({ kind }) => kind === "subtask");
  const subtasksUsd = subtasks.reduce((sum, { ownUsd }) => sum + ownUsd, 0);
  const planner = [...frames.values()].find(({ kind }) => kind === "planner");
  const [first, second] = subtasks
    .filter(({ ownUsd }) => ownUsd > 0)
    .toSorted((one, other) => other.ownUsd - one.ownUsd);
  const most =
    first === undefined || second === undefined
      ? undefined
      : { title: first.title || "a subtask", ownUsd: first.ownUsd };
  return { ownUsd: root.ownUsd + (planner?.ownUsd ?? 0), subtasksUsd, most };
}
