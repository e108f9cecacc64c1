import { expect, test } from "vitest";
import type { ScriptedAnswer } from "../../../test/support/guarded-run.ts";
import { GuardedRun, guardrails } from "../../../test/support/guarded-run.ts";
import { resultsOf } from "../../../test/support/worker-bench.ts";

const refused = "damn legal advice";
const output = [{ name: "no-damn", literals: ["damn"], action: "refuse" }];
const helper = { id: "helper", name: "helper", model: "test:x", ...guardrails({ output }) };

/** Drives a run whose delegate gives these answers, and returns what its caller gets. */
async function resultOf(...answers: readonly ScriptedAnswer[]): Promise<string> {
  const run = new GuardedRun(({ messages, tools }) => {
    const turns = messages.filter(({ role }) => role === "verbatim").length;
    const isLead = tools.some(({ name }) => name === "agent_run_helper");
    if (!isLead) return answers[Math.min(turns, answers.length - 1)] ?? {};
    return turns === 0
      ? { calls: [["agent_run_helper", JSON.stringify({ prompt: "x" })]] }
      : { text: "Done." };
  });
  const delegates = [{ agentId: "helper", revision: 1, spec: helper }];
  await run.drive({ delegates: ["helper"] }, { delegates });
  expect(await run.verdicts()).toContain("no-damn: REFUSE");
  return JSON.stringify(await resultsOf(run.bench));
}

// Requirement: RES-13
test.each(["stop", "length"])(
  "an answer of a delegate that its guards refused is no part of its result (finish reason %s)",
  async (finish) => {
    for (const text of ["", " "]) {
      expect(await resultOf({ text: refused, finish }, { text })).not.toContain(refused);
    }
    const fine = await resultOf({ text: refused, finish }, { text: "Sorry." });
    expect(fine).toContain("Sorry.");
    expect(fine).not.toContain(refused);
  },
);
