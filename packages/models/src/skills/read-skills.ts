import { lstat, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { parseSkill } from "@reeve/agent/skills/parse-skill";
import type { Skill } from "@reeve/agent/skills/skill";
import { skillFileName } from "@reeve/agent/skills/skill";
import { ErrorReason } from "@reeve/contracts/error";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { readFiles } from "./read-files.ts";

/** How many skills a deployment has at most, and how large all of them together may be. */
const maxSkills = 200;
const maxTotalBytes = 67_108_864;

/** The skills of a folder, and the names of folders in it that have no `SKILL.md`. */
interface SkillFolderContent {
  readonly skills: readonly Skill[];
  readonly skipped: readonly string[];
}

/** Reads the skills of a folder as `readSkillFolder` does. */
export async function readSkills(folder: string, signal: AbortSignal): Promise<readonly Skill[]> {
  return (await readSkillFolder(folder, signal)).skills;
}

/**
 * Reads the skills of a folder: one per folder in it that has a `SKILL.md`, ordered by name. Hidden folders and files beside them are left
 * out. Throws a Failure that lists everything that is wrong with each of them; there is no partial result.
 */
export async function readSkillFolder(
  folder: string,
  signal: AbortSignal,
): Promise<SkillFolderContent> {
  const { names, skipped } = await foldersIn(folder);
  const violations: Violation[] = [];
  if (names.length > maxSkills) {
    throw invalidSkills(folder, [
      problem("", `has ${names.length} skills; the limit is ${maxSkills}`),
    ]);
  }
  const skills: Skill[] = [];
  let total = 0;
  for (const name of names) {
    const { files, violations: unreadable } = await readFiles(join(folder, name), signal);
    const parsed = parseSkill(name, files);
    const own = "violations" in parsed ? parsed.violations : [];
    violations.push(...[...unreadable, ...own].map((each) => inSkill(name, each)));
    if (!("skill" in parsed)) continue;
    total += Number(parsed.skill.descriptor.sizeBytes);
    if (total > maxTotalBytes) {
      throw invalidSkills(folder, [problem("", `has more than ${maxTotalBytes} bytes of skills`)]);
    }
    skills.push(parsed.skill);
  }
  if (violations.length > 0) throw invalidSkills(folder, violations);
  return { skills, skipped };
}

async function foldersIn(
  folder: string,
): Promise<{ readonly names: readonly string[]; readonly skipped: readonly string[] }> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw invalidSkills(folder, [problem("", `cannot be read: ${message}`)]);
  });
  const names: string[] = [];
  const skipped: string[] = [];
  for (const entry of entries) {
    if (entry.name.startsWith(".") || entry.name === recoveryFolder) continue;
    const isLinked =
      entry.isSymbolicLink() &&
      ((await stat(join(folder, entry.name)).catch(() => undefined))?.isDirectory() ?? false);
    if (isLinked) {
      throw invalidSkills(folder, [
        problem(entry.name, "is a link; copy the skill into the folder"),
      ]);
    }
    if (!entry.isDirectory()) continue;
    const isSkill = await hasEntry(join(folder, entry.name, skillFileName));
    (isSkill ? names : skipped).push(entry.name);
  }
  return { names: names.toSorted(), skipped: skipped.toSorted() };
}

/** Returns whether a path exists. One that cannot be examined counts as existing, so that its reader reports why. */
async function hasEntry(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    (error: unknown) => !(error instanceof Error && "code" in error && error.code === "ENOENT"),
  );
}

/** File systems put recovered files into it, and only root may read it. */
const recoveryFolder = "lost+found";

/** The path begins with the name of the skill. */
function inSkill(name: string, { field, ...violation }: Violation): Violation {
  return { ...violation, field: field === "" ? name : `${name}/${field}` };
}

function problem(field: string, description: string): Violation {
  return { field, description, reason: "INVALID_SKILL" };
}

function invalidSkills(folder: string, violations: readonly Violation[]): Failure {
  const list = violations.map(({ field, description }) => `${field} ${description}`.trim());
  return new Failure(
    "invalid",
    ErrorReason.INVALID_REQUEST,
    `the skills in ${folder} are not valid: ${list.join("; ")}`,
    { violations },
  );
}
