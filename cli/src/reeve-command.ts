import { relative } from "node:path";
import process from "node:process";
import type { ServerOptions } from "./server-address.ts";
import { defaultDataDir } from "./server-address.ts";

/**
 * Returns the command with which the user runs `reeve` against the server of `options`, for hints that can be copied: with
 * `npx` if npm runs this process. Contains no token.
 */
export function reeveCommand(
  { url, dataDir, caFile, certFile, keyFile }: Omit<ServerOptions, "token">,
  environment: NodeJS.ProcessEnv,
): string {
  const words = environment["npm_command"] === undefined ? ["reeve"] : ["npx", "@reeve/cli"];
  if (url !== undefined) words.push("--url", quoted(url));
  const folder = dataDir === undefined ? defaultDataDir : shortest(dataDir);
  if (folder !== defaultDataDir) words.push("--data-dir", quoted(folder));
  for (const [option, file] of Object.entries({ ca: caFile, cert: certFile, key: keyFile })) {
    if (file !== undefined) words.push(`--${option}-file`, quoted(file));
  }
  return words.join(" ");
}

/** Returns a text with its commands as the user types them: of the server's and our own errors, which say `reeve`. */
export function asTyped(text: string, program: string): string {
  return text.replaceAll(/(?<=`|: )reeve(?= [a-z])/g, () => program);
}

/** Returns a path relative to the current folder if it is inside, else as it is. */
function shortest(path: string): string {
  const inside = relative(process.cwd(), path);
  return inside === "" ? "." : inside.startsWith("..") ? path : inside;
}

/** Returns a word as a shell reads it unchanged. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
