import { arch } from "node:process";
import { seccompProgram } from "../seccomp/seccomp-program.ts";
import type { ProbeReport } from "../port.ts";
import { systemProgram } from "../host/system-view.ts";

type Refusal = Extract<ProbeReport, { works: false }>;

/** Programs of the host that sandboxes need. */
interface Programs {
  readonly bwrap: string;
  readonly python: string;
  readonly seccomp: Uint8Array;
}

/** Finds the programs, or reports what is missing. */
export function findPrograms(): Programs | Refusal {
  const bwrap = systemProgram("bwrap");
  if (bwrap === undefined) return missing("bubblewrap is not installed", "bubblewrap");
  const python = systemProgram("python3", "python3.13", "python3.12", "python3.11");
  if (python === undefined) {
    return missing(
      "there is no python3 in /usr/bin or /usr/local/bin (sandboxes do not see home folders)",
      "python3",
    );
  }
  const seccomp = seccompProgram(arch);
  if (seccomp === undefined) {
    return { works: false, reason: `there is no seccomp filter for ${arch}`, fixes: [] };
  }
  return { bwrap, python, seccomp };
}

function missing(reason: string, name: string): Refusal {
  return { works: false, reason, fixes: [`install the package ${name}: apt-get install ${name}`] };
}
