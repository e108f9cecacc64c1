import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { chmod, chown } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { findProgram } from "@reeve/platform/nats-server";
import { collectExec } from "../../app/collect-exec.ts";
import { seccompProgram } from "../../domain/seccomp-program.ts";
import type { Probe } from "../../ports/sandbox.ts";
import type { BubblewrapPrograms, SandboxUser } from "./bubblewrap-sandbox.ts";
import { bubblewrapSandbox } from "./bubblewrap-sandbox.ts";

const python = "/usr/bin/python3";
const probeMs = 15_000;

/** What works on this machine, found out by running a command in a sandbox. `folder` keeps what the driver needs. */
export async function probeBubblewrap(
  folder: string,
  user: SandboxUser | undefined,
  signal: AbortSignal,
): Promise<Probe> {
  const bwrap = findProgram("bwrap");
  const prlimit = findProgram("prlimit");
  const program = seccompProgram(process.arch);
  if (bwrap === undefined)
    return unusable("bubblewrap is not installed", "install the package bubblewrap");
  if (prlimit === undefined)
    return unusable("prlimit is not installed", "install the package util-linux");
  if (!existsSync(python))
    return unusable(`${python} does not exist`, "install the package python3");
  if (program === undefined) {
    return unusable(
      `there is no filter of system calls for ${process.arch}`,
      "run the toolhost on x64 or arm64",
    );
  }
  const seccompFile = join(folder, "seccomp.bpf");
  writeFileSync(seccompFile, program, { mode: 0o644 });
  const programs = { bwrap, prlimit, seccompFile, user };
  const complaint = await tryOut(programs, signal);
  if (complaint !== undefined) {
    return unusable(
      `bubblewrap does not run here: ${complaint}`,
      "permit unprivileged user namespaces (sysctl user.max_user_namespaces, and kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu)",
    );
  }
  const open = (workspaceDir: string) => bubblewrapSandbox(workspaceDir, programs);
  return { kind: "isolates", driver: { name: "bubblewrap", open } };
}

function unusable(why: string, fix: string): Probe {
  return { kind: "unusable", why, fix };
}

/** Runs Python once. What it complained about, or undefined when it worked. */
async function tryOut(
  programs: BubblewrapPrograms,
  signal: AbortSignal,
): Promise<string | undefined> {
  const workspaceDir = mkdtempSync(join(tmpdir(), "reeve-probe-"));
  try {
    await chmod(workspaceDir, 0o700);
    if (programs.user !== undefined)
      await chown(workspaceDir, programs.user.uid, programs.user.gid);
    const command = {
      argv: [python, "-I", "-c", "open('probe', 'w').write('x'); print('works')"],
      stdin: "",
      timeoutMs: probeMs,
      outputBytes: 65_536,
    };
    const sandbox = bubblewrapSandbox(workspaceDir, programs);
    const { end, text } = await collectExec(sandbox.exec(command, signal));
    if (end.reason === "exit" && end.code === 0 && text("stdout") === "works\n") return undefined;
    return text("stderr").trim() || end.complaint || end.reason;
  } finally {
    rmSync(workspaceDir, { recursive: true, force: true });
  }
}
