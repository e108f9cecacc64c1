import { spawn } from "node:child_process";
import { mkdtempDisposable, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UsageError } from "../exit-code.ts";

/** Returns the person's editor, a shell command. Undefined: there is none. */
export function editorOf(environment: NodeJS.ProcessEnv): string | undefined {
  return environment["VISUAL"] || environment["EDITOR"] || undefined;
}

/**
 * Returns `text` as the person leaves it in the editor. Nobody else can read the file. Ends the editor when `signal` aborts, and
 * waits until it has ended: it may still have to restore the terminal.
 */
export async function editText(text: string, editor: string, signal: AbortSignal): Promise<string> {
  await using folder = await mkdtempDisposable(join(tmpdir(), "reeve-edit-"));
  const file = join(folder.path, "edit.json");
  await writeFile(file, text, { mode: 0o600, signal });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // An editor with options, such as `code --wait`, needs the shell, which the editor replaces, so that signals reach only it.
  const child = spawn("/bin/sh", ["-c", `exec env ${editor} "$1"`, "sh", file], {
    stdio: "inherit",
    signal,
  });
  child.once("error", (error) => {
    if (child.pid === undefined) reject(error);
  });
  child.once("close", (code) => {
    if (signal.aborted) reject(signal.reason);
    else if (code === 0) resolve();
    else reject(new UsageError(`the editor \`${editor}\` failed; set EDITOR to another one`));
  });
  await promise;
  return await readFile(file, { encoding: "utf8", signal });
}
