import type { SandboxLimits } from "../port.ts";
import type { CallSettings } from "./agent-call.ts";

const reservedPerUsed = 4;
const openFiles = 1_024;

/** The whole environment of a command, besides PWD. */
export const environment: Readonly<Record<string, string>> = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  HOME: "/workspace",
  TMPDIR: "/tmp",
  LANG: "C.UTF-8",
};

function both(limit: number): readonly [number, number] {
  return [limit, limit];
}

/**
 * Returns the limits that the kernel applies to each process of a call. If the memory of all processes together is limited
 * elsewhere, a process may reserve more address space than it may use. If the kernel would count processes of the same user
 * outside the sandbox, their number is not limited here.
 */
export function callLimits(
  { memoryBytes, processes, fileBytes, timeoutMs }: SandboxLimits,
  isCounted: { readonly memory: boolean; readonly processes: boolean },
): CallSettings["limits"] {
  const addressBytes = memoryBytes * (isCounted.memory ? reservedPerUsed : 1);
  const cpuSeconds = Math.ceil(timeoutMs / 1_000) + 1;
  return {
    RLIMIT_AS: both(addressBytes),
    ...(isCounted.processes && { RLIMIT_NPROC: both(processes) }),
    RLIMIT_FSIZE: both(fileBytes),
    RLIMIT_NOFILE: both(openFiles),
    RLIMIT_CORE: both(0),
    RLIMIT_MEMLOCK: both(0),
    // The soft limit sends SIGXCPU, which identifies the reason; the hard limit would send SIGKILL.
    RLIMIT_CPU: [cpuSeconds, cpuSeconds + 1],
  };
}
