import type { SandboxLimits } from "../port.ts";
import type { CallSettings } from "./agent-call.ts";

const reservedPerUsed = 4;
const openFiles = 1_024;

/** All that a command finds in its environment, beside the folder in which it begins. */
export const environment: Readonly<Record<string, string>> = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  HOME: "/workspace",
  TMPDIR: "/tmp",
  LANG: "C.UTF-8",
};

function both(most: number): readonly [number, number] {
  return [most, most];
}

/**
 * The limits that the kernel holds for each process of a call. Where memory is counted for all of them together, programs
 * may reserve more addresses than they use; where processes are counted by their user beyond the sandbox, their number is
 * not limited here.
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
    // The first of the two ends a process by a signal of its own, which tells why.
    RLIMIT_CPU: [cpuSeconds, cpuSeconds + 1],
  };
}
