import type { ModelSpec } from "@reeve/contracts/agent";
import { oneLine } from "./plain-text.ts";

/** Describes what answers. Never presents a script as a model. A workflow that calls no model has none. */
export function describeModel(model: ModelSpec | undefined, scripted: boolean): string {
  if (scripted) return `scripted answers "${upstreamName(model)}", no model is called`;
  return model === undefined ? "calls no model" : `model ${modelName(model)}`;
}

/** Returns the name of a model with that of its provider. */
export function modelName(model: ModelSpec | undefined): string {
  return `${oneLine(model?.provider ?? "unknown", 60)}:${upstreamName(model)}`;
}

function upstreamName(model: ModelSpec | undefined): string {
  return oneLine(model?.upstreamName || model?.id || "unknown", 100);
}
