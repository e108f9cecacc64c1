import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { parseSkill, skillLimits } from "./parse-skill.ts";

const file = (path: string, content: string | Uint8Array) => ({
  path,
  content: new Uint8Array(Buffer.from(content)),
});
const head = "---\nname: tables\ndescription: Draws tables.\n---\n";
const problems = (...files: Parameters<typeof parseSkill>[1]) => {
  const parsed = parseSkill("tables", files);
  return "skill" in parsed
    ? []
    : parsed.violations.map((each) => `${each.field} ${each.description}`);
};
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

test("a skill has the name and description of its front matter, its instructions, and its files", () => {
  const main = `${head}\nDraw with care.\n`;
  const parsed = parseSkill("tables", [
    file("b.md", "b"),
    file("SKILL.md", main),
    file("a/x.py", "x"),
  ]);
  expect(parsed).toMatchObject({
    skill: {
      descriptor: { name: "tables", description: "Draws tables.", fileCount: 3 },
      instructions: "Draw with care.",
      files: [{ path: "a/x.py" }, { path: "b.md" }],
    },
  });
  const lines = `${sha256(main)}  SKILL.md\n${sha256("x")}  a/x.py\n${sha256("b")}  b.md\n`;
  expect("skill" in parsed && parsed.skill.descriptor.digest).toBe(sha256(lines));
});

test.each<[string, Parameters<typeof parseSkill>[1], string]>([
  ["no SKILL.md", [file("README.md", "x")], "SKILL.md does not exist"],
  [
    "no front matter",
    [file("SKILL.md", "# Tables")],
    "SKILL.md must be UTF-8 text that starts with",
  ],
  ["bytes", [file("SKILL.md", Uint8Array.of(0xff, 0xfe))], "SKILL.md must be UTF-8 text"],
  ["no YAML", [file("SKILL.md", "---\nname: [\n---\nx")], "SKILL.md its front matter is no YAML"],
  ["a list", [file("SKILL.md", "---\n- x\n---\nx")], "SKILL.md Invalid input: expected object"],
  [
    "no description",
    [file("SKILL.md", "---\nname: tables\n---\nx")],
    "SKILL.md: description must be a text",
  ],
  [
    "another name",
    [file("SKILL.md", head.replace("tables", "other") + "x")],
    'SKILL.md: name is "other", but',
  ],
  ["no instructions", [file("SKILL.md", head)], "SKILL.md has no instructions"],
  [
    "a large file",
    [file("SKILL.md", `${head}x`), file("big", new Uint8Array(skillLimits.fileBytes + 1))],
    "big has 1048577 bytes; the limit is 1048576",
  ],
  [
    "a large front matter",
    [file("SKILL.md", `---\n${"# x\n".repeat(5_000)}---\nx`)],
    "SKILL.md its front matter has 20000 bytes; the limit is 16384",
  ],
  [
    "brackets that never close",
    [file("SKILL.md", `---\na: ${"[".repeat(16_000)}\n---\nx`)],
    "SKILL.md its front matter",
  ],
  [
    "a field twice",
    [file("SKILL.md", "---\nname: tables\nname: tables\ndescription: d\n---\nx")],
    'SKILL.md its front matter has the field "name" twice',
  ],
  [
    "many aliases",
    [
      file(
        "SKILL.md",
        `---\na: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b]\n---\nx`,
      ),
    ],
    "SKILL.md its front matter cannot be read",
  ],
])("a skill with %s is refused by name", (_, files, problem) => {
  expect(problems(...files)[0]).toContain(problem);
});

test("everything that is wrong is listed at once, and what is too large before it is parsed", () => {
  const many = Array.from({ length: skillLimits.files + 1 }, (_, n) => file(`f${n}`, ""));
  const main = file("SKILL.md", "---\nname: UPPER\ndescription: ''\n---\n");
  expect(problems(main)).toEqual([
    expect.stringContaining("SKILL.md: name must have"),
    expect.stringContaining("SKILL.md: description must not be empty"),
    expect.stringContaining("SKILL.md has no instructions"),
  ]);
  expect(problems(main, ...many)).toEqual([expect.stringContaining("the skill has 202 files")]);
});
