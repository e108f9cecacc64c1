/** A way to run foreign code apart from everything else. */
interface SandboxDriver {
  /** `bubblewrap`, and later others; shown with every result. */
  readonly name: string;
  /** Opens a sandbox over the files of a workspace. Nothing runs in it yet. */
  open(workspaceDir: string): Sandbox;
}

/** What a driver can do on this machine, found out by trying it. */
export type Probe =
  | { readonly kind: "isolates"; readonly driver: SandboxDriver }
  /** Why it does not, and what puts it right, in a sentence each. */
  | { readonly kind: "unusable"; readonly why: string; readonly fix: string };

/** A place apart, over one workspace. Each command has a fresh one; only the workspace is kept between them. */
export interface Sandbox {
  readonly isolation: string;
  /**
   * Runs a command: its output as it comes, then exactly one `end`. However it ends, nothing of its process tree is left.
   * Aborting `signal` ends it with the reason `cancelled`.
   */
  exec(command: Command, signal: AbortSignal): AsyncIterable<ExecEvent>;
}

export interface Command {
  readonly argv: readonly string[];
  readonly stdin: string;
  /** Wall-clock limit, in milliseconds. */
  readonly timeoutMs: number;
  /** All output together; more ends the command. */
  readonly outputBytes: number;
}

export type ExecEvent =
  | { readonly kind: "out"; readonly stream: ExecStream; readonly bytes: Uint8Array }
  | { readonly kind: "end"; readonly end: ExecEnd };

/** `report` is descriptor 3: what a helper of ours says beside the output of foreign code. */
export type ExecStream = "stdout" | "stderr" | "report";

export interface ExecEnd {
  readonly reason: "exit" | "signal" | "timeout" | "output_limit" | "cancelled" | "sandbox_lost";
  /** Exit code, when the command exited. */
  readonly code: number | undefined;
  /** What the sandbox itself complained about, when it could not even start. */
  readonly complaint: string;
  readonly durationMs: number;
}
