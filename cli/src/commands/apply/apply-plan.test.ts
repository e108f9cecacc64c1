import { create } from "@bufbuild/protobuf";
import { AgentSchema, AgentSpecSchema } from "@reeve/contracts/agent";
import { expect, test } from "vitest";
import { planChanges } from "./apply-plan.ts";

const specOf = (id: string, ...delegates: string[]) =>
  create(AgentSpecSchema, { id, name: id, model: "known", delegates });
const fileOf = (id: string, ...delegates: string[]) => ({
  file: `${id}.yaml`,
  spec: specOf(id, ...delegates),
});
const stored = (managedBy: string, id: string, ...delegates: string[]) =>
  create(AgentSchema, { spec: specOf(id, ...delegates), revision: 3, managedBy });
const inSet = { set: "team", prune: true };

const actions = ({ changes }: ReturnType<typeof planChanges>) =>
  changes.map(({ action, agentId }) => `${action} ${agentId}`);

test("an agent is created, updated, or left as it is, after those that it calls", () => {
  const before = [stored("", "same"), stored("", "changed")];
  const files = [fileOf("new", "changed"), fileOf("same"), fileOf("changed", "same")];
  const plan = planChanges(files, before, { set: undefined, prune: false });
  expect(actions(plan)).toEqual(["unchanged same", "update changed", "create new"]);
});

test("only agents of the set are deleted, callers first", () => {
  const before = [
    stored("team", "helper"),
    stored("team", "lead", "helper"),
    stored("other", "foreign"),
    stored("", "own"),
  ];
  expect(actions(planChanges([], before, inSet))).toEqual(["delete lead", "delete helper"]);
  expect(actions(planChanges([], before, { ...inSet, prune: false }))).toEqual([]);
});

test("an agent that a file still calls is not deleted", () => {
  const before = [stored("team", "helper"), stored("", "outside", "helper")];
  const { problems, warnings } = planChanges([fileOf("lead", "helper")], before, inSet);
  expect(problems).toMatchObject([{ file: "lead.yaml", field: "delegates[0]" }]);
  expect(warnings).toEqual(["agent outside calls helper, and will not start runs without it"]);
});

test("an agent of another set is refused", () => {
  const before = [stored("other", "shared")];
  expect(planChanges([fileOf("shared")], before, inSet).problems).toMatchObject([
    { file: "shared.yaml", field: "id", reason: "OTHER_SET" },
  ]);
});
