import { create } from "@bufbuild/protobuf";
import { Role } from "@reeve/contracts/access/role";
import type { AgentSpec } from "@reeve/contracts/agent";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import type { CallerPolicy } from "../src/policy/caller-policy.ts";
import { policyFor } from "../src/policy/caller-policy.ts";
import type { PolicyCaller } from "../src/policy/policy.ts";
import { parsePolicyFile } from "../src/policy/policy-file.ts";
import type { ToolContext } from "../src/tools/toolbelt.ts";
import type { SpecInit } from "./check.ts";

/** A runner of the tenant `acme`, outside of threads. */
export const runner: PolicyCaller = {
  tenant: "acme",
  roles: new Set([Role.RUNNER]),
  context: "plain",
  threadId: "",
};

/** Returns what a policy file decides for a caller. */
export function decided(text: string, caller: Partial<PolicyCaller> = {}): CallerPolicy {
  return policyFor(parsePolicyFile(text, "policy.yaml"), { ...runner, ...caller });
}

/** Returns the context of a run under a policy. */
export function under(policy: CallerPolicy): ToolContext {
  return { isEditor: false, extraTools: [], policy };
}

/** Returns a spec that has a name, a model, and the fields of a test. */
export function specOf(init: SpecInit = {}): AgentSpec {
  return create(AgentSpecSchema, { name: "a", model: "default", ...init });
}
