import { arch } from "node:process";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type { ProbeReport, Sandbox, SandboxDriver } from "../../ports/sandbox.ts";
import { defaultLimits } from "../../ports/sandbox.ts";
import { bwrapArguments } from "./bwrap-arguments.ts";
import { controlGroups } from "./control-groups.ts";
import type { Identity } from "./identity.ts";
import { runBwrap } from "./run-bwrap.ts";
import { seccompProgram } from "../../domain/seccomp-program.ts";
import { systemProgram, systemView } from "./system-view.ts";

const probeMs = 10_000;

/** Programs of the host that sandboxes stand on. */
interface Programs {
  readonly bwrap: string;
  readonly prlimit: string;
  readonly python: string;
  readonly seccomp: Uint8Array;
}

/** Sandboxes of Linux namespaces, one per command, by bubblewrap. */
export class BubblewrapDriver implements SandboxDriver {
  readonly name = "bubblewrap";
  readonly #identity: Identity;
  readonly #openGroup = controlGroups();

  constructor(identity: Identity) {
    this.#identity = identity;
  }

  async probe(signal: AbortSignal): Promise<ProbeReport> {
    const programs = findPrograms();
    if ("reason" in programs) return programs;
    const sandbox = this.open({ workspaceDir: "/usr/share" });
    const argv = [programs.python, "-I", "-c", "print(6 * 7)"];
    const command = { argv, readOnly: true, limits: { ...defaultLimits, timeoutMs: probeMs } };
    let said = "";
    let code: number | undefined;
    for await (const event of sandbox.exec(command, signal)) {
      if (event.kind === "out") said += Buffer.from(event.bytes).toString("utf8");
      else if (event.kind === "end") ({ code } = event);
    }
    if (code === 0 && said.trim() === "42") return { works: true };
    return { works: false, reason: `a probe failed: ${said.trim()}`, fixes: namespaceFixes };
  }

  /** Whether the memory of a sandbox is bounded as a whole, not only that of each of its processes. */
  get countsMemoryTogether(): boolean {
    return this.#openGroup !== undefined;
  }

  open({ workspaceDir }: { readonly workspaceDir: string }): Sandbox {
    const programs = findPrograms();
    if ("reason" in programs) {
      throw new Failure("unavailable", ErrorReason.UNAVAILABLE, programs.reason);
    }
    const { bwrap, prlimit, python, seccomp } = programs;
    const identity = this.#identity;
    const openGroup = this.#openGroup;
    const isGrouped = openGroup !== undefined;
    const system = systemView();
    return {
      isolation: this.name,
      python,
      exec: (command, signal) => {
        const args = bwrapArguments(command, { workspaceDir, prlimit, system, isGrouped });
        return runBwrap(
          { program: bwrap, args, folder: workspaceDir, identity, seccomp, openGroup },
          command,
          signal,
        );
      },
    };
  }
}

const namespaceFixes = [
  "permit user namespaces: sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000",
  "on Ubuntu 24.04 and later: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile for bwrap",
  "in a container: give it a seccomp profile that permits user namespaces",
];

function findPrograms(): Programs | Extract<ProbeReport, { works: false }> {
  const bwrap = systemProgram("bwrap");
  if (bwrap === undefined) return missing("bubblewrap is not installed", "bubblewrap");
  const prlimit = systemProgram("prlimit");
  if (prlimit === undefined) return missing("prlimit is not installed", "util-linux");
  const python = systemProgram("python3", "python3.13", "python3.12", "python3.11");
  if (python === undefined) {
    return missing(
      "there is no Python in /usr/bin or /usr/local/bin (one in a home folder is not to be had in a sandbox)",
      "python3",
    );
  }
  const seccomp = seccompProgram(arch);
  if (seccomp === undefined) {
    return { works: false, reason: `no filter of system calls is known for ${arch}`, fixes: [] };
  }
  return { bwrap, prlimit, python, seccomp };
}

function missing(reason: string, name: string): Extract<ProbeReport, { works: false }> {
  return { works: false, reason, fixes: [`install the package ${name}: apt-get install ${name}`] };
}
