import type { ResolvedModel } from "./resolve-model.ts";

/** Returns why a model cannot take over from another one. Undefined: it can. The tools of a run never change. */
export function fallbackProblem(fallback: ResolvedModel, first: ResolvedModel): string | undefined {
  if (callsTools(fallback) || !callsTools(first)) return undefined;
  return `the model "${fallback.model.id}" does not call tools, but "${first.model.id}" does, from which it takes over; choose another model`;
}

/** Returns why a model cannot give an answer that has a schema. Undefined: it can. */
export function answerProblem(model: ResolvedModel): string | undefined {
  return callsTools(model)
    ? undefined
    : `the model "${model.model.id}" does not call tools, which an answer with a schema needs; choose another model`;
}

/** Whether a model calls tools. A run of one that does not has none. */
export function callsTools({ model, provider }: ResolvedModel): boolean {
  return (model.capabilities ?? provider.capabilities)?.tools ?? true;
}
