import { create } from "@bufbuild/protobuf";
import { RunCreatedSchema } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import { grantedSpecsOf, specDigestOf } from "./granted-digests.ts";

const created = (instructions?: string) =>
  create(RunCreatedSchema, {
    spec: { id: "a", name: "a" },
    ...(instructions !== undefined && {
      delegates: [{ agentId: "b", revision: 1, spec: { id: "b", instructions } }],
    }),
  });

// Requirement: HITL-1
test("a grant is about the specs of all agents of the run: it does not outlive a change of a delegate", () => {
  expect(grantedSpecsOf(created())).toBe(specDigestOf(created()));
  expect(grantedSpecsOf(created("search"))).toBe(grantedSpecsOf(created("search")));
  expect(grantedSpecsOf(created("search"))).not.toBe(grantedSpecsOf(created("delete")));
  expect(grantedSpecsOf(created("search"))).not.toBe(specDigestOf(created("search")));
});
