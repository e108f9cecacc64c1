import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import type { CheckedSpec } from "../src/spec/check-spec.ts";
import { checkSpec } from "../src/spec/check-spec.ts";
import { offer } from "./offer.ts";

export type SpecInit = MessageInitShape<typeof AgentSpecSchema>;

/** Checks a spec that has a name, a model, and the fields of a test. */
export function check(init: SpecInit, offered = offer): CheckedSpec {
  return checkSpec(create(AgentSpecSchema, { name: "a", model: "default", ...init }), offered);
}

/** Returns the violations of a spec as `field: reason`. */
export function violationsOf(init: SpecInit, offered = offer): string[] {
  return check(init, offered).violations.map(({ field, reason }) => `${field}: ${reason}`);
}
