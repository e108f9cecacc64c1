import { RunStatus } from "@reeve/contracts/run";
import { expect, test } from "vitest";
import type { ConsoleFixture } from "../support/console-fixture.ts";
import { playedModel, viewer } from "../support/console-fixture.ts";
import { expectAccessible } from "../support/expect-accessible.ts";
import { expectLayout } from "../support/expect-layout.ts";

const graph = {
  nodes: [
    { id: "list", type: "input", properties: { schema: { type: "array" } } },
    {
      id: "record",
      name: "Record each",
      type: "map",
      properties: { node_type: "tool:add_todo", item_input: "text" },
    },
    { id: "check", type: "approval", properties: { question: "Is the list right?" } },
    { id: "yes", type: "output" },
    { id: "no", type: "output" },
  ],
  edges: [
    { source: "list", target: "record" },
    { source: "record", sourceHandle: "results", target: "check" },
    { source: "check", sourceHandle: "approved.value", target: "yes" },
    { source: "check", sourceHandle: "rejected.comment", target: "no" },
  ],
};

/** The canvas of a workflow, the graph of its runs, and the plans of agents. */
export function describeWorkflows(fixture: () => ConsoleFixture): void {
  test("edits a workflow on the canvas with keys alone, and saves only a valid one", async () => {
    const { reeve } = fixture().deployment;
    await using shown = await fixture().open("/workflows?create=true");
    const { page } = shown;
    await page.getByLabel("Id of the workflow").fill("greeting");
    await page.getByLabel("Name of the workflow").fill("Greeting");
    await page.getByLabel("Search the types of nodes").fill("model");
    await page.getByRole("button", { name: "Model", exact: true }).focus();
    await page.keyboard.press("Enter");
    // A node that needs a value says so, and the workflow cannot be saved.
    const violations = page.getByLabel("Violations");
    await violations.getByText('needs the input "prompt"').waitFor();
    const save = page.getByRole("button", { name: "Create the workflow" });
    expect(await save.isDisabled()).toBe(true);
    await page.getByLabel("Source of prompt").selectOption("input.value");
    await page.getByLabel("instructions").fill("Greet this person.");
    const canvas = page.getByRole("group", { name: "Canvas" });
    await page.getByRole("button", { name: "YAML" }).click();
    expect(await page.getByLabel("Spec").innerText()).toContain("instructions: Greet this person.");
    await canvas.getByRole("group", { name: /^answer, Output/ }).focus();
    await page.keyboard.press("Enter");
    await page.getByLabel("Source of edge 1").selectOption("model.result");
    await expectAccessible(page);
    // An edge is removed with the node, and both come back.
    await canvas.getByRole("group", { name: /^model, Model/ }).focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Delete");
    await violations.getByText('needs the input "value"').waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByLabel("Model", { exact: true }).waitFor({ state: "detached" });
    await page
      .getByText("1 problem")
      .or(page.getByText("Valid", { exact: true }))
      .waitFor();
    await page.getByRole("button", { name: "YAML" }).click();
    await page.getByText("Valid", { exact: true }).waitFor();
    await save.click();
    await page.getByRole("heading", { name: "Greeting" }).waitFor();
    const { agent } = await reeve.agents.getAgent({ agentId: "greeting" });
    expect(agent?.spec?.workflow?.edges).toMatchObject([
      { source: "model", sourceHandle: "result", target: "answer" },
      { source: "input", sourceHandle: "value", target: "model", targetHandle: "prompt" },
    ]);
    expect(shown.problems).toEqual([]);
  });

  test("shows the graph of a run with the states of its nodes, while it runs", async () => {
    await fixture().deployment.agent("lister", { model: "", workflow: graph });
    const runId = await fixture().started('["one", "two"]', "lister");
    await using shown = await fixture().open(`/runs/${runId}/graph`);
    const { page } = shown;
    const node = (name: RegExp) => page.getByRole("group", { name });
    await node(/^Record each, Map, done, 2 of 2/).waitFor();
    await node(/^check, Approval, waiting for a decision/).waitFor();
    await node(/^yes, Output, waiting/).waitFor();
    await expectAccessible(page);
    // A rule cannot decide in place of a node that asks.
    expect(await page.getByRole("button", { name: "Approve further calls, too" }).count()).toBe(0);
    await page.getByRole("button", { name: "Approve" }).click();
    await node(/^check, Approval, approved/).waitFor();
    await node(/^yes, Output, done/).waitFor();
    await node(/^no, Output, skipped/).waitFor();
    await node(/^Record each/).click();
    await page.getByRole("link", { name: /^Its events/ }).waitFor();
    await fixture().picture(shown, "workflow-run");
    await expectLayout(page);
    await page.getByRole("link", { name: /^Its events/ }).click();
    await page.getByText("tool call", { exact: true }).first().waitFor();
    const { run } = await fixture().deployment.reeve.runs.getRun({ runId });
    expect(run?.status).toBe(RunStatus.COMPLETED);
    expect(shown.problems).toEqual([]);
  });

  // Requirement: WF-1
  test("shows the plan of an agent as a graph, and stores it only when a person applies it", async () => {
    const { reeve } = fixture().deployment;
    await fixture().deployment.agent("planned", { model: playedModel, workflow: graph });
    await using shown = await fixture().open("/chat?workflow=planned&agent=helper");
    const { page } = shown;
    await page.getByLabel("Message").fill("Build a greeting.");
    await page.keyboard.press("Enter");
    await page.getByText("Nothing is stored until").waitFor();
    await page.getByRole("group", { name: /^ask, Model/ }).waitFor();
    await expectAccessible(page);
    const before = await reeve.agents.getAgent({ agentId: "planned" });
    expect(before.agent?.revision).toBe(1);
    await page.getByRole("button", { name: "Apply to planned" }).click();
    // The turn ends while the question is open, which must not close it.
    await page.getByText("The plan is ready.").waitFor();
    await page.getByText("Show the run").waitFor();
    await page.getByRole("button", { name: "Save it as revision 2" }).click();
    await page.getByText("Saved as revision 2.").waitFor();
    const { agent } = await reeve.agents.getAgent({ agentId: "planned" });
    expect(agent?.spec?.workflow?.nodes.map(({ id }) => id)).toEqual(["in", "ask", "out"]);
    await page.getByRole("link", { name: "Show planned" }).click();
    const canvas = page.getByRole("group", { name: "Canvas" });
    await canvas.getByRole("group", { name: /^ask, Model/ }).click();
    await fixture().picture(shown, "workflow");
    await expectLayout(page);
    expect(shown.problems).toEqual([]);
  });

  test("shows a workflow to people who may not change it", async () => {
    await fixture().deployment.agent("read-only", { model: "", workflow: graph });
    await using shown = await fixture().open("/workflows/read-only", "dark", viewer);
    const { page } = shown;
    await page.getByText(/Changing the workflow needs the role author/).waitFor();
    await page.getByRole("group", { name: /^check, Approval/ }).click();
    expect(await page.getByLabel("question (required)").isDisabled()).toBe(true);
    await page.keyboard.press("Delete");
    await page.getByRole("group", { name: /^check, Approval/ }).waitFor();
    await expectAccessible(page);
    expect(shown.problems).toEqual([]);
  });
}
