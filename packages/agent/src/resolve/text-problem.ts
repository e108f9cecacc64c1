import type { ResolvedModel } from "./resolve-model.ts";

/** Returns why a model cannot answer with text: its price is that of the media that it generates in place of text. Undefined: it can. */
export function textProblem({ model }: Pick<ResolvedModel, "model">): string | undefined {
  const { id, generates } = model;
  return generates.length === 0
    ? undefined
    : `the model "${id}" generates ${generates.join(" and ")} in place of text; name another model, or register it a second time without generates`;
}
