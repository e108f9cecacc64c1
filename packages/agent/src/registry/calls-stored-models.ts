import type { ResolvedAgent } from "../resolve/resolved-agent.ts";

/** Whether a run of an agent, or of an agent that it can call, calls a model or a provider that is stored through the API. */
export function callsStoredModels(resolved: ResolvedAgent): boolean {
  const { executor, planner, fallbacks, guardModels, media, delegates } = resolved;
  const called = [
    executor,
    planner,
    ...fallbacks,
    ...guardModels.map((each) => each.resolved),
    ...media.values(),
  ];
  return (
    called.some((each) => each !== undefined && (each.model.isStored || each.provider.isStored)) ||
    delegates.some((each) => callsStoredModels(each.resolved))
  );
}
