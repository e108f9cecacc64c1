import { ErrorReason } from "@reeve/contracts/error";
import { RunStatus } from "@reeve/contracts/run";
import { parseScript } from "@reeve/models/scripted/script";
import { scriptedProvider } from "@reeve/models/scripted/scripted-provider";
import { expect, test } from "vitest";
import { runAgent } from "./run-agent.ts";

const never = new AbortController().signal;
const leads = parseScript(
  `turns:
  - tool_calls: [{ name: agent_run_finder, arguments: { prompt: "find it" } }]
  - text: "The finder says {{last_result}}."
`,
  "leads.yaml",
);
const finds = parseScript(`turns: [{ text: "four" }]`, "finds.yaml");
const lead = { id: "lead", name: "lead", model: "scripted:leads", delegates: ["finder"] };
const finder = { id: "finder", name: "finder", model: "scripted:finds" };
const options = { providers: [scriptedProvider([leads, finds])], signal: never };

// Requirement: RES-7
test("a run in this process calls an agent that its caller passes", async () => {
  const run = runAgent(lead, "go", { ...options, agents: [finder] });
  expect(await run.ended).toMatchObject({
    status: RunStatus.COMPLETED,
    output: expect.stringContaining("The finder says"),
    cost: { subtasks: 1 },
  });
});

test("a delegate that is not passed is refused by its name", () => {
  expect(() => runAgent(lead, "go", options)).toThrow(
    expect.objectContaining({
      reason: ErrorReason.AGENT_NOT_FOUND,
      message: expect.stringContaining(`"finder"`),
    }),
  );
});

test("a delegate whose calls need approvals is refused without somebody who decides", () => {
  const asking = { ...finder, hitlTools: ["add_todo"] };
  expect(() => runAgent(lead, "go", { ...options, agents: [asking] })).toThrow(
    expect.objectContaining({ reason: ErrorReason.UNSUPPORTED_CAPABILITY }),
  );
});

test("a delegate of a delegate that is not passed is refused by its name", () => {
  const agents = [{ ...finder, delegates: ["missing"] }];
  expect(() => runAgent(lead, "go", { ...options, agents })).toThrow(
    expect.objectContaining({
      reason: ErrorReason.AGENT_NOT_FOUND,
      message: expect.stringContaining(`"missing"`),
    }),
  );
});

test("more agents than a run can reach, and two with one id, are refused", () => {
  const ids = Array.from({ length: 33 }, (_, n) => `a${n}`);
  const chain = ids.map((id, n) => ({ ...finder, id, delegates: ids.slice(n + 1, n + 2) }));
  const first = { ...lead, delegates: ["a0"] };
  expect(() => runAgent(first, "go", { ...options, agents: chain })).toThrow("more than 32 agents");
  const twice = [finder, { ...finder, name: "other" }];
  expect(() => runAgent(lead, "go", { ...options, agents: twice })).toThrow(
    expect.objectContaining({
      violations: [expect.objectContaining({ description: `two agents have the id "finder"` })],
    }),
  );
});
