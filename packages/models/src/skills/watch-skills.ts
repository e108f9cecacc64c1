import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Skill } from "@reeve/agent/skills/skill";
import { sleep } from "@reeve/platform/async/sleep";
import type { Logger } from "@reeve/platform/telemetry/logger";
import { readSkillFolder } from "./read-skills.ts";

/** The interval at which the folder is checked. A change takes effect after at most two intervals. */
const defaultIntervalMs = 2_000;
/** How many times the interval passes before a folder with a mistake is read again although nothing changed: a read may fail for a while. */
const retryIntervals = 15;
/** The maximum number of files that a check examines. Changes in further files are not noticed. */
const maxFiles = 40_000;

export interface SkillFolder {
  /** The folder of the skills. Undefined: there are none. */
  readonly path: string | undefined;
  readonly log: Pick<Logger, "info" | "warn" | "error">;
  /** Default: two seconds. */
  readonly intervalMs?: number;
  /** Reads the skills of the folder. Default: `readSkillFolder`. */
  readonly read?: typeof readSkillFolder;
}

/** The skills of a folder, and what tells whether it has changed since. */
export interface LoadedSkills {
  readonly skills: readonly Skill[];
  readonly signature: string;
}

/** Reads the skills of a folder. Throws a Failure that lists everything that is wrong with them. */
export async function loadSkills(
  { path, log }: Pick<SkillFolder, "path" | "log">,
  signal: AbortSignal,
): Promise<LoadedSkills> {
  if (path === undefined) return { skills: [], signature: "" };
  // Before the files: a change in between is then seen later.
  const signature = await signatureOf(path, signal);
  const { skills, skipped } = await readSkillFolder(path, signal);
  warnOfSkipped(path, skipped, log);
  return { skills, signature };
}

function warnOfSkipped(
  path: string,
  skipped: readonly string[],
  log: Pick<SkillFolder["log"], "warn">,
): void {
  if (skipped.length === 0) return;
  log.warn({ path, folders: skipped.slice(0, 50) }, "folders without SKILL.md are no skills");
}

/**
 * Reads the skills again when their folder changes, until `signal` aborts, and passes them to `use`. Skills with a mistake change
 * nothing, and the log says once what is wrong; they are read again later, because reads also fail for other reasons. What `use` throws
 * is tried again.
 */
export async function watchSkills(
  { path, log, intervalMs = defaultIntervalMs, read = readSkillFolder }: SkillFolder,
  { signature: first }: Pick<LoadedSkills, "signature">,
  use: (skills: readonly Skill[]) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  if (path === undefined) return;
  // Undefined: it is unknown which skills are in use.
  let used: string | undefined = first;
  let before = first;
  let refused = { signature: "", looks: 0 };
  let reported = "";
  for (;;) {
    await sleep(intervalMs, signal);
    try {
      const next = await signatureOf(path, signal);
      // Somebody may be writing the files: a change counts once it is seen twice.
      const isWhole = next === before;
      before = next;
      if (!isWhole) continue;
      if (next === used) {
        reported = "";
        continue;
      }
      if (next === refused.signature && ++refused.looks < retryIntervals) continue;
      refused = { signature: next, looks: 0 };
      const { skills, skipped } = await read(path, signal);
      // An error from here on is none of the files.
      refused = { signature: "", looks: 0 };
      used = undefined;
      await use(skills);
      used = next;
      warnOfSkipped(path, skipped, log);
      log.info({ path, skills: skills.length }, "the skills were read again");
    } catch (error) {
      signal.throwIfAborted();
      const problem = error instanceof Error ? error.message : String(error);
      if (problem === reported) continue;
      reported = problem;
      log.error({ path, problem }, "the changed skills are not used");
    }
  }
}

/** Returns a text that changes when a file below the folder does. */
async function signatureOf(folder: string, signal: AbortSignal): Promise<string> {
  const lines: string[] = [];
  const folders = [folder];
  for (let next = folders.shift(); next !== undefined; next = folders.shift()) {
    signal.throwIfAborted();
    const entries = await readdir(next, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      if (entry.name.startsWith(".") || lines.length >= maxFiles) continue;
      const path = join(next, entry.name);
      if (entry.isDirectory()) folders.push(path);
      const found = await stat(path).catch(() => undefined);
      lines.push(`${path} ${found?.ino} ${found?.size} ${found?.mtimeMs} ${found?.ctimeMs}`);
    }
  }
  return lines.toSorted().join("\n");
}
