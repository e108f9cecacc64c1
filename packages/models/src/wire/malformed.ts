import { ModelFailure } from "@reeve/engine/ports/model-provider";

/** The failure of an answer that is not what its API promises. */
export function malformed(what: string): ModelFailure {
  return new ModelFailure("malformed", `the provider sent a chunk that cannot be read: ${what}`);
}
