import { create, toBinary } from "@bufbuild/protobuf";
import { parseSkill } from "@reeve/agent/skills/parse-skill";
import { SkillContentSchema } from "@reeve/contracts/agent";
import { skipReason } from "@reeve/sandbox/test/support/bubblewrap-here";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunningToolhost } from "./support/running-toolhost.ts";
import { runningToolhost } from "./support/running-toolhost.ts";
import type { RequestOptions } from "./support/toolhost.ts";
import { resultOf } from "./support/toolhost.ts";

const signal = new AbortController().signal;

const bytes = (text: string) => new Uint8Array(Buffer.from(text));

// Requirement: CFG-17
describe.skipIf(skipReason !== "")(`a toolhost whose calls have skills${skipReason}`, () => {
  let toolhost: RunningToolhost;
  let calls = 0;

  beforeAll(async () => {
    toolhost = await runningToolhost(signal);
  });
  afterAll(() => toolhost[Symbol.asyncDispose]());

  async function stored(name: string, tenant = "acme") {
    const head = `---\nname: ${name}\ndescription: d\n---\nRun draw.py.`;
    const files = [
      { path: "SKILL.md", content: bytes(head) },
      { path: "draw.py", content: bytes(`print("${name} of ${tenant}")`) },
    ];
    const parsed = parseSkill(name, files);
    if (!("skill" in parsed)) throw new Error("the skill of the test is not valid");
    const content = toBinary(SkillContentSchema, create(SkillContentSchema, { files }));
    const draft = { name: `${name}.skill`, mediaType: "", runId: "" };
    const { artifactId } = await toolhost.artifacts.put(tenant, draft, only(content), signal);
    return { name, digest: parsed.skill.descriptor.digest, artifactId };
  }

  const resultFor = async (options: Omit<RequestOptions, "callId">) => {
    const callId = `run_1-${++calls}-0`;
    return resultOf(await toolhost.made({ ...options, callId }));
  };
  const printed = async (script: string, options: Partial<RequestOptions>) => {
    const args = { command: ["/bin/sh", "-c", script] };
    const { content, isError } = await resultFor({ name: "run_command", args, ...options });
    if (isError) return content;
    const { stdout, stderr } = JSON.parse(content) as { stdout: string; stderr: string };
    return stdout + stderr;
  };

  test("shows each call the skills of its agent, and no others", async () => {
    const [tables, maps] = [await stored("tables"), await stored("maps")];
    expect(await printed("python3 skills/tables/draw.py", { skills: [tables] })).toBe(
      "tables of acme\n",
    );
    expect(await printed("ls skills", { skills: [tables, maps] })).toBe("maps\ntables\n");
    expect(await printed("ls skills", { skills: [maps] })).toBe("maps\n");
    expect(await printed("ls skills", {})).toBe("");
    const read = { name: "read_file", args: { path: "skills/maps/draw.py" } };
    expect(await resultFor({ ...read, skills: [maps] })).toMatchObject({
      isError: false,
      content: expect.stringContaining("maps of acme") as string,
    });
  });

  test("lets no call change them, and says so", async () => {
    const skills = [await stored("tables")];
    const args = { path: "skills/tables/draw.py", content: "print('mine')" };
    expect(await resultFor({ name: "write_file", args, skills })).toMatchObject({
      isError: true,
      content: "skills/tables/draw.py: Permission denied",
    });
    expect(await printed("python3 skills/tables/draw.py", { skills })).toBe("tables of acme\n");
  });

  test("mounts no skill of another tenant, and tells the model which one is missing", async () => {
    const skill = await stored("tables");
    const other = { tenant: "globex", runId: "run_2", skills: [skill] };
    expect(await printed("ls skills", other)).toContain(`artifact ${skill.artifactId} not found`);
    const own = await stored("tables", "globex");
    const script = "cat skills/tables/draw.py";
    expect(await printed(script, { ...other, skills: [own] })).toContain("tables of globex");
    const wrong = { ...own, digest: skill.digest };
    expect(await printed("ls skills", { ...other, skills: [wrong] })).toContain(
      "the skill tables cannot be mounted",
    );
  });
});

async function* only(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}
