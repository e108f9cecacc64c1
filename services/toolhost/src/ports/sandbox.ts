/** Makes sandboxes by one kind of isolation. */
export interface SandboxDriver {
  /** Name of the isolation, as results and catalogs tell it: `bubblewrap`. */
  readonly name: string;
  /** Tries whether it works on this machine. */
  probe(signal: AbortSignal): Promise<ProbeReport>;
  /** A sandbox over a folder of the host. Nothing runs yet. */
  open(session: { readonly workspaceDir: string }): Sandbox;
}

/** Whether a driver works, and if it does not, why and what to do about it. */
export type ProbeReport =
  | { readonly works: true }
  | { readonly works: false; readonly reason: string; readonly fixes: readonly string[] };

/** A place where untrusted code runs, with one workspace at `/workspace`. */
export interface Sandbox {
  /**
   * Runs one command. The events are `start`, any number of `out`, and exactly one `end`, by which time every process of
   * the command is gone. An aborted signal ends the command: its reason is then `cancelled`. Never throws for what the
   * command does; throws a Failure when it cannot be started.
   */
  exec(command: SandboxCommand, signal: AbortSignal): AsyncIterable<ExecEvent>;
  readonly isolation: string;
  /** Absolute path of the Python interpreter inside. */
  readonly python: string;
}

export interface SandboxCommand {
  readonly argv: readonly string[];
  /** Bytes for the standard input. Absent: it is empty. */
  readonly stdin?: Uint8Array | AsyncIterable<Uint8Array>;
  /** Additions to the minimal environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether the workspace is mounted read-only. */
  readonly readOnly?: boolean;
  readonly limits: SandboxLimits;
}

export interface SandboxLimits {
  /** Wall-clock time. */
  readonly timeoutMs: number;
  /** Bytes of all output streams together; beyond them the command is ended. */
  readonly outputBytes: number;
  /** Bytes of memory of all processes together; of each by itself where the host cannot count them together. */
  readonly memoryBytes: number;
  readonly processes: number;
  /** Bytes of one file. */
  readonly fileBytes: number;
  /** Bytes and number of all files of the workspace, measured now and then while a command runs. */
  readonly workspaceBytes: number;
  readonly workspaceFiles: number;
}

export const defaultLimits: Omit<SandboxLimits, "timeoutMs"> = {
  outputBytes: 8 * 2 ** 20,
  memoryBytes: 2 ** 30,
  processes: 64,
  fileBytes: 512 * 2 ** 20,
  workspaceBytes: 2 ** 30,
  workspaceFiles: 100_000,
};

/** `result` is file descriptor 3 of the command: what our own programs report, apart from what foreign code prints. */
export type OutputStream = "stdout" | "stderr" | "result";

export type EndReason =
  | "exit"
  | "signal"
  | "timeout"
  | "oom"
  | "output_limit"
  | "disk_limit"
  | "cancelled"
  | "sandbox_lost";

export interface ExecEnd {
  readonly kind: "end";
  readonly reason: EndReason;
  /** Exit code of the command; 128 and more tells of the signal that ended it. */
  readonly code: number | undefined;
  readonly durationMs: number;
}

export type ExecEvent =
  | { readonly kind: "start" }
  | { readonly kind: "out"; readonly stream: OutputStream; readonly bytes: Uint8Array }
  | ExecEnd;
