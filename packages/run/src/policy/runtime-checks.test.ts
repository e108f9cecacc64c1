import type { MessageInitShape } from "@bufbuild/protobuf";
import { create, fromJson } from "@bufbuild/protobuf";
import { ValueSchema } from "@bufbuild/protobuf/wkt";
import { stopSectionName } from "@reeve/agent/plugins/stop-section";
import { AgentSpecSchema } from "@reeve/contracts/agent";
import { ErrorReason } from "@reeve/contracts/error";
import type { QueueHolder } from "@reeve/contracts/queue";
import { CheckedRule, CheckedRuleSchema, QueueHolderSchema } from "@reeve/contracts/queue";
import { ChatContextKind, RunCreatedSchema } from "@reeve/contracts/run";
import { MemoryTable } from "@reeve/jetstream/table/memory";
import { expect, test } from "vitest";
import type { IgnorableRule } from "./runtime-checks.ts";
import { allCheckedRules, assertChecked, ignorableRules } from "./runtime-checks.ts";

const never = new AbortController().signal;

/** What states each rule: in an agent, or in the start of a run. */
const statements: Record<
  IgnorableRule,
  {
    readonly field: string;
    readonly spec?: MessageInitShape<typeof AgentSpecSchema>;
    readonly start?: MessageInitShape<typeof RunCreatedSchema>;
    readonly usesStoredModels?: true;
    /** The rules that it states too. */
    readonly others?: readonly IgnorableRule[];
  }
> = {
  [CheckedRule.STEP_UP]: {
    field: "approval_policy.step_up",
    spec: { approvalPolicy: { stepUp: { tools: ["pay"] } } },
  },
  [CheckedRule.STOP_CONDITIONS]: {
    field: "sections.stop",
    spec: { sections: { [stopSectionName]: fromJson(ValueSchema, { consecutive_errors: 3 }) } },
  },
  [CheckedRule.OUTPUT_SCHEMA]: { field: "output_schema", spec: { outputSchema: {} } },
  [CheckedRule.DELEGATES]: { field: "delegates", spec: { delegates: ["finder"] } },
  [CheckedRule.CONTENT_PARTS]: { field: "parts", start: { parts: [{}] } },
  [CheckedRule.SKILLS]: { field: "skills", spec: { skills: ["tables"] } },
  [CheckedRule.CLIENT_TOOLS]: { field: "client_tools", start: { offeredTools: [{}] } },
  [CheckedRule.PLUGINS]: { field: "plugin_ids", spec: { pluginIds: ["acme/offered"] } },
  [CheckedRule.WORKFLOW]: { field: "workflow", spec: { workflow: {} } },
  [CheckedRule.MEDIA]: { field: "media", spec: { media: {} } },
  [CheckedRule.EDITOR]: {
    field: "chat_context",
    start: { chatContext: { kind: ChatContextKind.EDITOR } },
  },
  [CheckedRule.GUARDRAILS]: {
    field: "sections.guardrails",
    spec: { sections: { guardrails: fromJson(ValueSchema, {}) } },
  },
  [CheckedRule.COLLECTIONS]: { field: "collections", start: { collections: ["handbook"] } },
  [CheckedRule.DELEGATE_PLUGINS]: {
    field: "plugin_ids of delegates",
    start: { delegates: [{ agentId: "d", spec: { pluginIds: ["acme/offered"] } }] },
  },
  [CheckedRule.STORED_MODELS]: { field: "model, which is stored", usesStoredModels: true },
  [CheckedRule.ENDPOINT]: {
    field: "endpoint",
    start: { delegates: [{ agentId: "d", spec: { endpoint: { url: "https://x.example" } } }] },
  },
  [CheckedRule.WORKFLOW_CONTINUATION]: {
    field: "workflow, of which nodes have ended",
    spec: { workflow: {} },
    start: { inherited: { runIds: ["run_failed"] } },
    others: [CheckedRule.WORKFLOW],
  },
};

/** Returns runtimes of which one does not check a rule. */
async function holdersWithout(rule: CheckedRule): Promise<MemoryTable<QueueHolder>> {
  const holders = new MemoryTable<QueueHolder>();
  const all = { holder: "runtime-new", checks: [...allCheckedRules] };
  const checks = allCheckedRules.filter((each) => each !== rule);
  for (const each of [all, { holder: "runtime-old", checks }]) {
    await holders.put(each.holder, create(QueueHolderSchema, each), never);
  }
  return holders;
}

test("this version checks every rule of the contract", () => {
  const rules = CheckedRuleSchema.values.map(({ number }) => number);
  expect(new Set([CheckedRule.UNSPECIFIED, ...allCheckedRules])).toEqual(new Set(rules));
});

test.each(Object.entries(statements))(
  "rule %s is refused by the name of a runtime that ignores it",
  async (number, { field, spec = {}, start = {}, usesStoredModels = false, others = [] }) => {
    const started = { ...create(RunCreatedSchema, start), usesStoredModels };
    const rules = ignorableRules(create(AgentSpecSchema, spec), started);
    expect(rules).toEqual([...others, Number(number)]);
    const rule = rules.at(-1) ?? CheckedRule.UNSPECIFIED;
    await expect(assertChecked(await holdersWithout(rule), rules, never)).rejects.toMatchObject({
      kind: "precondition",
      reason: ErrorReason.RUNTIME_OUTDATED,
      metadata: { runtimes: "runtime-old", field },
    });
    await assertChecked(await holdersWithout(CheckedRule.UNSPECIFIED), rules, never);
  },
);

test("the skills of a delegate are those of the run", () => {
  const delegate = { agentId: "finder", spec: { id: "finder", skills: ["tables"] } };
  const start = create(RunCreatedSchema, { delegates: [delegate] });
  expect(ignorableRules(create(AgentSpecSchema), start)).toEqual([CheckedRule.SKILLS]);
});
