import { existsSync } from "node:fs";
import { dirname } from "node:path";
import process from "node:process";
import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import { systemProgram, systemView } from "@reeve/sandbox/host/system-view";
import type { Command } from "./reader-process.ts";
import { startReader } from "./reader-process.ts";

const defaultProbeMs = 10_000;
const nothing = new Uint8Array();
/** More than the version of Node. */
const maxProbeBytes = 1_000;
const shell = "/bin/sh";
/** More than a reader can use until its gateway ends it. */
const maxProcessorSeconds = 120;

interface ProbeOptions {
  /** How long bubblewrap may take to show that it works, in milliseconds. Default: 10,000. */
  readonly probeMs?: number | undefined;
}

let probed: Promise<string | undefined> | undefined;

/**
 * Returns the command that runs Node with `args` in a sandbox of bubblewrap without network, which sees the system, Node, and `code`
 * read-only, and no other process. Where bubblewrap is missing, or may not create namespaces, returns Node as it is. Throws a Failure of
 * kind `unavailable` while bubblewrap does not answer in time: a busy host must not turn the sandbox off.
 */
export async function sandboxed(
  args: readonly string[],
  code: readonly string[],
  { probeMs = defaultProbeMs }: ProbeOptions = {},
): Promise<Command & { readonly isSandboxed: boolean }> {
  const node = { file: process.execPath, args };
  const probing = (probed ??= probe(probeMs));
  const bwrap = await probing.catch((error: unknown) => {
    if (probed === probing) probed = undefined;
    throw error;
  });
  if (bwrap === undefined) return { ...limited(node), isSandboxed: false };
  return { ...sandboxCommand(bwrap, node, code), isSandboxed: true };
}

/**
 * Returns a command that ends after some processor time, in seconds: a busy reader would outlive a gateway that is killed. Bubblewrap ends with its parent
 * instead. Returns the command as it is where there is no shell.
 */
export function limited({ file, args }: Command, maxSeconds = maxProcessorSeconds): Command {
  if (!existsSync(shell)) return { file, args };
  return { file: shell, args: ["-c", `ulimit -t ${maxSeconds}; exec "$0" "$@"`, file, ...args] };
}

/** Returns the path of bubblewrap if it works here. Throws a Failure if that takes too long. */
async function probe(timeout: number): Promise<string | undefined> {
  const bwrap = systemProgram("bwrap");
  if (process.platform !== "linux" || bwrap === undefined) return undefined;
  const node = { file: process.execPath, args: ["--version"] };
  const timedOut = AbortSignal.timeout(timeout);
  try {
    await using child = await startReader(sandboxCommand(bwrap, node, []));
    const end = await child.exchange(nothing, maxProbeBytes, timedOut);
    return end.kind === "answered" ? bwrap : undefined;
  } catch (error) {
    if (!timedOut.aborted) return undefined;
    const problem = `bubblewrap did not start within ${timeout / 1_000} s`;
    const message = `documents cannot be read now: ${problem}; try again`;
    throw new Failure("unavailable", ErrorReason.UNAVAILABLE, message, { cause: error });
  }
}

function sandboxCommand(bwrap: string, { file, args }: Command, code: readonly string[]): Command {
  const { folders, links, files } = systemView();
  return {
    file: bwrap,
    args: [
      ["--unshare-all", "--die-with-parent", "--clearenv", "--cap-drop", "ALL"],
      [...folders, ...files].flatMap((path) => ["--ro-bind", path, path]),
      links.flatMap(({ from, to }) => ["--symlink", to, from]),
      ["--proc", "/proc", "--dev", "/dev"],
      [dirname(file), ...code].flatMap((path) => ["--ro-bind-try", path, path]),
      ["--remount-ro", "/", "--chdir", "/", "--", file],
      args,
    ].flat(),
  };
}
