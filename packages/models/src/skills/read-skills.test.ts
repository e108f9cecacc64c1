import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readSkillFolder, readSkills } from "./read-skills.ts";

const never = new AbortController().signal;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "reeve-skills-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a skill with further files, and returns its folder. */
function write(name: string, files: Readonly<Record<string, string>> = {}): string {
  const own = join(folder, name);
  mkdirSync(own, { recursive: true });
  const main = `---\nname: ${name}\ndescription: About ${name}.\n---\nDo ${name}.\n`;
  for (const [path, text] of Object.entries({ "SKILL.md": main, ...files })) {
    mkdirSync(join(own, path, ".."), { recursive: true });
    writeFileSync(join(own, path), text);
  }
  return own;
}

const problems = async () =>
  await readSkills(folder, never).then(
    () => [],
    (error: { violations: readonly { field: string; description: string }[] }) =>
      error.violations.map(({ field, description }) => `${field} ${description}`),
  );

test("each folder is a skill, ordered by name, without hidden files and files beside the folders", async () => {
  write("tables", { "scripts/draw.py": "print()", ".git/config": "x" });
  write("maps");
  mkdirSync(join(folder, ".git"));
  writeFileSync(join(folder, "README.md"), "x");
  const skills = await readSkills(folder, never);
  expect(skills.map(({ descriptor }) => descriptor.name)).toEqual(["maps", "tables"]);
  expect(skills[1]?.files.map(({ path }) => path)).toEqual(["scripts/draw.py"]);
});

test("a link that leaves the folder of its skill is refused by name, and one inside is read", async () => {
  const own = write("tables", { "a.md": "a" });
  symlinkSync("a.md", join(own, "b.md"));
  expect(await problems()).toEqual([]);
  writeFileSync(join(folder, "secret"), "x");
  symlinkSync("/etc/passwd", join(own, "passwd"));
  symlinkSync("../secret", join(own, "up"));
  symlinkSync("..", join(own, "loop"));
  symlinkSync("nothing", join(own, "dangling"));
  expect(new Set(await problems())).toEqual(
    new Set([
      "tables/dangling is a link to a file that does not exist",
      "tables/loop is a link that leaves the folder of the skill",
      "tables/passwd is a link that leaves the folder of the skill",
      "tables/up is a link that leaves the folder of the skill",
    ]),
  );
});

test("a link to a hidden file is refused, and a volume of Kubernetes is read", async () => {
  const own = write("tables", { ".env": "SECRET=1", ".git/config": "x" });
  symlinkSync(".env", join(own, "notes.md"));
  symlinkSync(".git/config", join(own, "more.md"));
  mkdirSync(join(own, "rules"));
  symlinkSync("rules", join(own, "linked"));
  expect(new Set(await problems())).toEqual(
    new Set([
      "tables/linked is a link to a folder; copy the folder",
      "tables/more.md is a link to a hidden file",
      "tables/notes.md is a link to a hidden file",
    ]),
  );
  rmSync(own, { recursive: true });
  const volume = join(folder, "maps");
  const version = "..2026_11_27_01_02_03.4567";
  write(join("maps", version));
  const main = "---\nname: maps\ndescription: d\n---\nx";
  writeFileSync(join(volume, version, "SKILL.md"), main);
  symlinkSync(version, join(volume, "..data"));
  symlinkSync("..data/SKILL.md", join(volume, "SKILL.md"));
  expect(await problems()).toEqual([]);
});

test("a folder without SKILL.md is no skill, and is named", async () => {
  write("maps");
  mkdirSync(join(folder, "shared"));
  mkdirSync(join(folder, "lost+found"));
  const { skills, skipped } = await readSkillFolder(folder, never);
  expect(skills).toHaveLength(1);
  expect(skipped).toEqual(["shared"]);
});

test("a link in place of a skill, and a pipe, are refused by name", async () => {
  const own = write("tables");
  execFileSync("mkfifo", [join(own, "pipe")]);
  expect(await problems()).toEqual(["tables/pipe is neither a file nor a folder"]);
  symlinkSync("/etc", join(folder, "etc"));
  expect(await problems()).toEqual(["etc is a link; copy the skill into the folder"]);
});

test("the mistakes of all skills are listed at once", async () => {
  write("a", { "SKILL.md": "x" });
  write("b", { "SKILL.md": "---\nname: c\ndescription: d\n---\nx" });
  expect(await problems()).toEqual([
    expect.stringContaining("a/SKILL.md must be UTF-8 text"),
    expect.stringContaining('b/SKILL.md: name is "c", but its folder is "b"'),
  ]);
});

test("a folder that does not exist is a Failure", async () => {
  await expect(readSkills(join(folder, "gone"), never)).rejects.toMatchObject({ kind: "invalid" });
});
