import { ModelFailure } from "@reeve/engine/ports/model-provider";

/** Creates the failure of an answer that does not follow its API. */
export function malformed(what: string): ModelFailure {
  return new ModelFailure("malformed", `the provider sent a chunk that cannot be read: ${what}`);
}
