/**
 * Checks that the contracts do not break clients of the main branch: `buf breaking` against the commit where this branch left
 * main, or against the previous commit if this is main.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

const base = baseCommit();
if (base === undefined) {
  console.log("the contracts are not compared: this is the first commit, or the clone is shallow");
} else {
  const before = mkdtempSync(join(tmpdir(), "reeve-contracts-"));
  try {
    const archive = execFileSync("git", ["archive", base, "proto", "buf.yaml"]);
    execFileSync("tar", ["-x", "-C", before], { input: archive });
    cpSync("proto/.deps", join(before, "proto/.deps"), { recursive: true });
    execFileSync("buf", ["breaking", "--against", before], { stdio: "inherit" });
  } catch (error) {
    console.error(
      `the contracts break clients of commit ${base} (see above)`,
      error instanceof Error ? "" : error,
    );
    process.exitCode = 1;
  } finally {
    rmSync(before, { recursive: true, force: true });
  }
}

function baseCommit(): string | undefined {
  const head = git("rev-parse", "HEAD");
  const main = git("rev-parse", "--verify", "origin/main") ?? git("rev-parse", "--verify", "main");
  const left = main === undefined ? undefined : git("merge-base", "HEAD", main);
  return left === undefined || left === head ? git("rev-parse", "--verify", "HEAD~1") : left;
}

function git(...args: readonly string[]): string | undefined {
  try {
    return execFileSync("git", args, { stdio: ["ignore", "pipe", "ignore"] })
      .toString()
      .trim();
  } catch {
    return undefined;
  }
}
