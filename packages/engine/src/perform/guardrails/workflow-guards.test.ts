import { RunStatus } from "@reeve/contracts/run";
import { outputOf } from "@reeve/run/head/run-of";
import { describe, expect, test } from "vitest";
import { asText, GuardedRun, guardrails } from "../../../test/support/guarded-run.ts";
import { endOf } from "../../../test/support/plugins/plugin-bench.ts";
import { expectWhole } from "../../../test/support/worker-bench.ts";
import { graph } from "../../../test/support/workflow/workflow-graph.ts";

const mail = "ann@example.org";
const hidden = "[redacted: email]";
const input = { type: "input" };
const output = { type: "output" };

const echo = graph({ in: input, out: output }, "in -> out");
const record = graph({ in: input, out: output, again: output }, "in -> out", "in -> again");
const asking = graph(
  { in: input, ask: { type: "agent:helper" }, out: output },
  "in -> ask.prompt",
  "ask -> out",
);

const delegates = { delegates: [{ agentId: "helper", spec: { id: "helper", model: "test:x" } }] };

const guard = (action: string, more: object = {}) => [
  { name: "no-mail", detect: ["email"], action, ...more },
];

async function drive(run: GuardedRun, spec: Parameters<GuardedRun["drive"]>[0], created: object) {
  await run.drive(spec, { input: `I am ${mail}.`, ...created });
  return run;
}

// Requirement: RES-13
describe("a guard of the output of a workflow", () => {
  test.each([
    ["refuse", 'the guard "no-mail" refuses the answer of the workflow'],
    ["stop", 'the guard "no-mail" stopped the run'],
  ])("that says %s ends the run before anybody reads the answer", async (action, message) => {
    const spec = { workflow: echo, ...guardrails({ output: guard(action) }) };
    const run = await drive(new GuardedRun([]), spec, {});
    expectWhole(await run.bench.events(), RunStatus.ERROR);
    const { error } = await endOf(run.bench);
    expect(error?.reason).toBe("guardrail_tripped");
    expect(error?.message).toContain(message);
    expect(outputOf(await endOf(run.bench))).toBe("");
  });

  test.each([
    ["a text", echo],
    ["a record", record],
  ])("replaces a part of an answer that is %s", async (_, workflow) => {
    const output = guard("redact");
    const spec = { workflow, ...guardrails({ hold: true, output }) };
    const run = await drive(new GuardedRun([]), spec, {});
    expect((await endOf(run.bench)).error).toBeUndefined();
    expectWhole(await run.bench.events(), RunStatus.COMPLETED);
    const answer = outputOf(await endOf(run.bench));
    expect(answer).toContain(`I am ${hidden}.`);
    expect(answer).not.toContain(mail);
  });
});

// Requirement: RES-13
test("a guard of the input replaces what the nodes of a workflow read", async () => {
  const steps = graph(
    { in: input, a: { type: "tool:count" }, out: output },
    "in -> a.q",
    "in -> out",
  );
  const spec = { workflow: steps, ...guardrails({ input: guard("redact") }) };
  const run = await drive(new GuardedRun([]), spec, {});
  expect((await endOf(run.bench)).error).toBeUndefined();
  expectWhole(await run.bench.events(), RunStatus.COMPLETED);
  const later = (await run.bench.events()).slice(1);
  expect(JSON.stringify(later, asText)).toContain(hidden);
  expect(JSON.stringify(later, asText)).not.toContain(mail);
});

// Requirement: RES-13
test("a guard of a result replaces what the next node reads of an agent, also in its memory", async () => {
  const more = { tools: ["agent_run_*"], on: "result" };
  const spec = {
    workflow: asking,
    delegates: ["helper"],
    ...guardrails({ tools: guard("redact", more) }),
  };
  const run = await drive(new GuardedRun([{ text: `Ask ${mail}.` }]), spec, delegates);
  expectWhole(await run.bench.events(), RunStatus.COMPLETED);
  expect(outputOf(await endOf(run.bench))).toBe(`Ask ${hidden}.`);
});

// Requirement: RES-13
test("guards of a delegate that is a workflow look at its task and its answer", async () => {
  const sections = guardrails({
    hold: true,
    input: guard("redact"),
    output: [{ name: "tone", literals: ["damn"], action: "redact" }],
  });
  const inner = { id: "helper", model: "test:x", workflow: echo, ...sections };
  const created = { input: `damn ${mail}`, delegates: [{ agentId: "helper", spec: inner }] };
  const calling = graph(
    { in: input, ask: { type: "workflow:helper" }, out: output },
    "in -> ask.input",
    "ask -> out",
  );
  const run = await drive(
    new GuardedRun([]),
    { workflow: calling, delegates: ["helper"] },
    created,
  );
  expectWhole(await run.bench.events(), RunStatus.COMPLETED);
  expect(outputOf(await endOf(run.bench))).toBe(`[redacted: text] ${hidden}`);
});
