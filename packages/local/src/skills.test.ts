import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RunStatus } from "@reeve/contracts/run";
import { parseScript } from "@reeve/models/scripted/script";
import { scriptedProvider } from "@reeve/models/scripted/scripted-provider";
import { readSkills } from "@reeve/models/skills/read-skills";
import { expect, test } from "vitest";
import { runAgent } from "./run-agent.ts";

const signal = new AbortController().signal;
const script = parseScript(
  `turns:
  - tool_calls: [{ name: open_skill, arguments: { name: tables } }]
  - text: Done.
`,
  "draws.yaml",
);
const agent = { name: "drawer", model: "scripted:draws", skills: ["tables"] };
const providers = [scriptedProvider([script])];

// Requirement: CFG-17
test("a run in this process opens the skills that its caller has read", async () => {
  const folder = mkdtempSync(join(tmpdir(), "reeve-skills-"));
  mkdirSync(join(folder, "tables"));
  const text = "---\nname: tables\ndescription: Draws tables.\n---\nUse three columns.\n";
  writeFileSync(join(folder, "tables/SKILL.md"), text);
  const skills = await readSkills(folder, signal);
  rmSync(folder, { recursive: true });
  const run = runAgent(agent, "go", { providers, skills, signal });
  const events = await Array.fromAsync(run.events());
  const opened = events.flatMap(({ event }) =>
    event.case === "toolResult" ? [event.value.result?.content] : [],
  );
  expect(opened).toEqual(["Use three columns."]);
  expect((await run.ended).status).toBe(RunStatus.COMPLETED);
});

test("a skill that is not passed is refused by its name", () => {
  expect(() => runAgent(agent, "go", { providers, signal })).toThrow(
    'the deployment has no skill "tables"; it has none',
  );
});
