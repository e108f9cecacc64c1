import { create } from "@bufbuild/protobuf";
import { ApprovalPolicySchema } from "@reeve/contracts/agent";
import { PermissionClass } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import { parsePolicyFile } from "../policy/policy-file.ts";
import { operatorNeedsPasskey } from "../approval-times/approval-times.ts";
import { passkeySiteOf } from "./passkey-site.ts";
import { agentNeedsPasskey, stepUpProblems } from "./step-up.ts";

const policy = (stepUp: { readonly tools?: string[]; readonly classes?: string[] }) =>
  create(ApprovalPolicySchema, { stepUp });
const fields = (found: readonly { field: string; reason: string }[]) =>
  found.map(({ field, reason }) => `${field} ${reason}`);
const { EXECUTE, SAFE } = PermissionClass;

test("a policy selects the calls that need a passkey by their tool or its class", () => {
  const both = policy({ tools: ["pay_*"], classes: ["execute"] });
  const needs = (tool: string, permissionClass: PermissionClass | undefined) =>
    agentNeedsPasskey(both, { tool, permissionClass });
  expect(needs("pay_bill", SAFE)).toBe(true);
  expect(needs("run_command", EXECUTE)).toBe(true);
  expect(needs("read_file", SAFE)).toBe(false);
  expect(agentNeedsPasskey(undefined, { tool: "pay_bill", permissionClass: EXECUTE })).toBe(false);
});

test("a tool of an unknown class, and a pattern that cannot be read, need a passkey", () => {
  const call = { tool: "other", permissionClass: undefined };
  expect(agentNeedsPasskey(policy({ classes: ["execute"] }), call)).toBe(true);
  expect(agentNeedsPasskey(policy({ tools: ["pay"] }), call)).toBe(false);
  expect(agentNeedsPasskey(policy({ tools: ["pay\\"] }), call)).toBe(true);
});

test("a policy is refused at save if it is malformed, or if the deployment has no address for passkeys", () => {
  const wrong = policy({ tools: ["pay\\"], classes: ["exec"] });
  expect(fields(stepUpProblems(wrong, true))).toEqual([
    "approval_policy.step_up.tools[0] MALFORMED",
    "approval_policy.step_up.classes[0] UNKNOWN",
  ]);
  expect(fields(stepUpProblems(policy({}), true))).toEqual(["approval_policy.step_up REQUIRED"]);
  const [refused, ...others] = stepUpProblems(policy({ tools: ["pay"] }), false);
  expect(others).toEqual([]);
  expect(refused).toMatchObject({ reason: "UNSATISFIABLE" });
  expect(refused?.description).toContain("REEVE_PUBLIC_URL");
});

test("an operator's policy selects calls by tenant, agent, tool, and class", () => {
  const text = `rules: []\napprovals:\n  step_up: [{ name: money, tenants: [acme], tools: [pay], classes: [secrets] }]\n`;
  const times = parsePolicyFile(text, "policy.yaml").approvals;
  const needs = (tenant: string, tool: string, permissionClass?: PermissionClass) =>
    operatorNeedsPasskey(times, { tenant, agentId: "buyer", tool }, permissionClass);
  expect(needs("acme", "pay", SAFE)).toBe(true);
  expect(needs("acme", "other", PermissionClass.SECRETS)).toBe(true);
  expect(needs("acme", "other")).toBe(true);
  expect(needs("acme", "other", SAFE)).toBe(false);
  expect(needs("globex", "pay", SAFE)).toBe(false);
});

test("passkeys need an https address with a name, or localhost", () => {
  expect(passkeySiteOf("https://reeve.example.com/x")).toEqual({
    origin: "https://reeve.example.com",
    rpId: "reeve.example.com",
  });
  expect(passkeySiteOf("http://localhost:4680")).toEqual({
    origin: "http://localhost:4680",
    rpId: "localhost",
  });
  const none = ["http://reeve.example.com", "https://10.0.0.1", "https://[::1]:4680", undefined];
  expect(none.map(passkeySiteOf)).toEqual(none.map(() => undefined));
});
