import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { parseSkill } from "@reeve/agent/skills/parse-skill";
import type { Skill } from "@reeve/agent/skills/skill";
import { ErrorReason } from "@reeve/contracts/error";
import type { Violation } from "@reeve/platform/failure";
import { Failure } from "@reeve/platform/failure";
import { readFiles } from "./read-files.ts";

/** How many skills a deployment has at most, and how large all of them together may be. */
const maxSkills = 200;
const maxTotalBytes = 67_108_864;

/**
 * Reads the skills of a folder: one per folder in it, ordered by name. Hidden folders and files beside them are left out. Throws a Failure
 * that lists everything that is wrong with each of them; there is no partial result.
 */
export async function readSkills(folder: string, signal: AbortSignal): Promise<readonly Skill[]> {
  const names = await foldersIn(folder);
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
  return skills;
}

async function foldersIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw invalidSkills(folder, [problem("", `cannot be read: ${message}`)]);
  });
  const names: string[] = [];
  for (const entry of entries) {
    if (entry.name.startsWith(".")) continue;
    const isLinked =
      entry.isSymbolicLink() &&
      ((await stat(join(folder, entry.name)).catch(() => undefined))?.isDirectory() ?? false);
    if (isLinked) {
      throw invalidSkills(folder, [
        problem(entry.name, "is a link; copy the skill into the folder"),
      ]);
    }
    if (entry.isDirectory()) names.push(entry.name);
  }
  return names.toSorted();
}

/** The path begins with the name of the skill; a field of its front matter stands in its `SKILL.md`. */
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
