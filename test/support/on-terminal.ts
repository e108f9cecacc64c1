import { spawn } from "node:child_process";
import process from "node:process";
import { stripVTControlCharacters } from "node:util";

/** A command on a terminal of its own. Disposing it hangs up the terminal. */
export interface OnTerminal extends Disposable {
  /** Everything that it printed, without colors. */
  said(): string;
  /** The same with colors. */
  raw(): string;
  /** Resolves with all output when it contains a match of `pattern`. Rejects if the command ends first. */
  until(pattern: RegExp): Promise<string>;
  /** Types text, such as `y\r`, or `\x03` for Ctrl-C. */
  type(text: string): void;
  /** Resolves when the command has ended, with its exit code. */
  readonly code: Promise<number>;
}

interface Place {
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The user who types. Default: that of this process. */
  readonly uid?: number;
  readonly gid?: number;
}

/** Runs a shell command on a pseudoterminal. */
export function onTerminal(command: string, { environment, ...place }: Place): OnTerminal {
  const child = spawn(
    "script",
    ["--quiet", "--flush", "--return", "--command", command, "/dev/null"],
    {
      ...place,
      env: environment,
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  let output = "";
  const said = () => stripVTControlCharacters(output).replaceAll("\r", "");
  const { promise: code, resolve } = Promise.withResolvers<number>();
  child.once("close", (status) => resolve(status ?? -1));
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  return {
    said,
    raw: () => output,
    code,
    until: async (pattern) => {
      const { promise, resolve: found, reject } = Promise.withResolvers<string>();
      const look = () => pattern.test(said()) && found(said());
      child.stdout.on("data", look);
      child.once("close", () => reject(new Error(`it ended without ${pattern}:\n${said()}`)));
      look();
      try {
        return await promise;
      } finally {
        child.stdout.off("data", look);
      }
    },
    type: (text) => void child.stdin.write(text),
    [Symbol.dispose]: () => void child.kill("SIGHUP"),
  };
}

/** The environment of a user's shell in a clone, without keys of models. */
export function shellEnvironment(
  more: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const kept = ["PATH", "HOME", "NODE_COMPILE_CACHE"].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(kept), TERM: "xterm", REEVE_SANDBOX: "bubblewrap", ...more };
}
