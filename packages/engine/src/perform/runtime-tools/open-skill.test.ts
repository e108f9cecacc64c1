import { create } from "@bufbuild/protobuf";
import { parseSkill } from "@reeve/agent/skills/parse-skill";
import { RunPreparedSchema } from "@reeve/contracts/run";
import { emptyHead } from "@reeve/run/head/run-head";
import { expect, test } from "vitest";
import { callingModel } from "../../../test/support/models.ts";
import { WorkerBench } from "../../../test/support/worker-bench.ts";
import type { RunState } from "../../domain/state/run-state.ts";
import { initialState } from "../../domain/state/run-state.ts";
import { openSkill } from "./open-skill.ts";

const bytes = (text: string) => new Uint8Array(Buffer.from(text));
const parsed = parseSkill("tables", [
  { path: "SKILL.md", content: bytes("---\nname: tables\ndescription: d\n---\nDraw.") },
  { path: "scripts/draw.py", content: bytes("print()") },
  { path: "logo.png", content: Uint8Array.of(0xff, 0xd8) },
]);
if (!("skill" in parsed)) throw new Error("the skill of the test is not valid");
const { skill } = parsed;
const state: RunState = {
  ...initialState,
  head: { ...emptyHead, prepared: create(RunPreparedSchema, { skills: [skill.descriptor] }) },
};
const skills = {
  version: (name: string, digest: string) =>
    name === "tables" && digest === skill.descriptor.digest ? skill : undefined,
};
const open = (
  args: Record<string, string | number>,
  ports: Parameters<typeof openSkill>[3] = { skills },
) => openSkill(state, "", args, ports, new AbortController().signal);

test("a skill is opened with its instructions and its files, and each file by its path", async () => {
  expect(await open({ name: "tables" })).toEqual({
    content:
      "Draw.\n\n[files of this skill, which open_skill reads with `file`]\n- logo.png (2 bytes)\n- scripts/draw.py (7 bytes)",
    isError: false,
  });
  const file = "scripts/draw.py";
  expect((await open({ name: "tables", file })).content).toBe("print()");
  expect((await open({ name: "tables", file, offset: 5 })).content).toBe("()");
});

test.each<[string, Record<string, string>, string]>([
  ["an unknown skill", { name: "maps" }, 'there is no skill "maps"; the skills are: tables'],
  [
    "an unknown file",
    { name: "tables", file: "../x" },
    'has no file "../x"; its files are: logo.png',
  ],
  [
    "a file that is no text",
    { name: "tables", file: "logo.png" },
    "logo.png of the skill tables is no text",
  ],
])("%s is an error that the model can read", async (_, args, problem) => {
  const { content, isError } = await open(args);
  expect(isError).toBe(true);
  expect(content).toContain(problem);
});

// Requirement: CFG-17
test("a process with another version of the skill says so by name", async () => {
  for (const ports of [{}, { skills: { version: () => undefined } }]) {
    const { content, isError } = await open({ name: "tables" }, ports);
    expect(isError).toBe(true);
    expect(content).toMatch(/does not have version [0-9a-f]{12} of the skill tables/);
  }
});

// Requirement: CFG-17
test("a process that sees the skill later than another one waits for it", async () => {
  let known: typeof skill | undefined;
  const late = {
    version: () => known,
    async settle(hasAll: () => boolean) {
      expect(hasAll()).toBe(false);
      known = skill;
      expect(hasAll()).toBe(true);
    },
  };
  expect((await open({ name: "tables" }, { skills: late })).isError).toBe(false);
});

// Requirement: CFG-17
test("a run opens the version with which it was prepared, although the deployment has another one by then", async () => {
  let offered = skill.descriptor;
  const requests: string[] = [];
  const model = callingModel([["open_skill", '{"name":"tables"}']], () => {
    offered = { ...skill.descriptor, digest: "changed" };
  });
  const recording = {
    ...model,
    stream: (...[request, signal]: Parameters<typeof model.stream>) => {
      requests.push(request.instructions);
      return model.stream(request, signal);
    },
  };
  const bench = await new WorkerBench(recording).create({ skills: ["tables"] });
  const ports = bench.ports("w");
  const catalogs = () => {
    const { tools, models } = ports.catalogs();
    return { tools, models: { ...models, skills: [offered] } };
  };
  const never = new AbortController().signal;
  await bench.drive("w", 1, { now: never, drain: never }, 1, { ...ports, catalogs, skills });
  const events = await bench.events();
  const results = events.flatMap(({ event }) =>
    event.case === "toolResult" ? [event.value.result?.content] : [],
  );
  expect(results).toEqual([expect.stringMatching(/^Draw\.\n/)]);
  expect(requests[0]).toContain("The skills:\n- tables: d");
});
