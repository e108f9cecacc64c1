import { execFile } from "node:child_process";
import { dirname } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { systemProgram, systemView } from "@reeve/sandbox/host/system-view";

const run = promisify(execFile);
const probeTimeoutMs = 10_000;

/** A program with its arguments. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
}

let probed: Promise<string | undefined> | undefined;

/**
 * Returns the command that runs Node with `args` in a sandbox of bubblewrap without network, which sees the system, Node, and `code`
 * read-only, and no other process. Where bubblewrap is missing, or may not create namespaces, returns Node as it is.
 */
export async function sandboxed(
  args: readonly string[],
  code: readonly string[],
): Promise<Command & { readonly isSandboxed: boolean }> {
  const node = { file: process.execPath, args };
  probed ??= probe();
  const bwrap = await probed;
  if (bwrap === undefined) return { ...node, isSandboxed: false };
  return { ...sandboxCommand(bwrap, node, code), isSandboxed: true };
}

/** Returns the path of bubblewrap if it works here. */
async function probe(): Promise<string | undefined> {
  const bwrap = systemProgram("bwrap");
  if (process.platform !== "linux" || bwrap === undefined) return undefined;
  const node = { file: process.execPath, args: ["--version"] };
  const { file, args } = sandboxCommand(bwrap, node, []);
  try {
    await run(file, [...args], { timeout: probeTimeoutMs, env: {} });
    return bwrap;
  } catch {
    return undefined;
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
