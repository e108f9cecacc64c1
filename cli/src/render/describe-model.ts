import type { ModelSpec } from "@reeve/contracts/agent";
import { oneLine } from "./plain-text.ts";

/** Describes what answers. Never presents a script as a model. */
export function describeModel(model: ModelSpec | undefined, scripted: boolean): string {
  const name = oneLine(model?.upstreamName || model?.id || "unknown", 100);
  if (scripted) return `scripted answers "${name}", no model is called`;
  return `model ${oneLine(model?.provider ?? "unknown", 60)}:${name}`;
}
