/** Makes sandboxes by one kind of isolation. */
export interface SandboxDriver {
  /** Name of the isolation, as results and catalogs tell it: `bubblewrap`. */
  readonly name: string;
  /**
   * Where the files of a workspace are: in `workspaceDir` of the host, which sandboxes see as it is, or only in the session,
   * which begins empty and takes them with it. Absent: on the host.
   */
  readonly keepsWorkspace?: "host" | "session";
  /** Tries whether it works on this machine, and what it can bound. */
  probe(signal: AbortSignal): Promise<ProbeReport>;
  /** A new sandbox over a folder of the host. Throws a Failure when none can be made. */
  open(spec: SessionSpec, signal: AbortSignal): Promise<SandboxSession>;
  /** All sandboxes of this deployment on this machine, also those of toolhosts that are gone. */
  list(signal: AbortSignal): Promise<readonly SessionRecord[]>;
  /** Ends a sandbox, whoever made it, and takes away what it stood on. One that is gone is no mistake. */
  destroy(sessionId: string, signal: AbortSignal): Promise<void>;
}

/** Name of the driver that runs our own programs over files, and nothing else. */
export const filesOnly = "files-only";

/** Whether a driver works, and if it does not, why and what to do about it. */
export type ProbeReport =
  | {
      readonly works: true;
      readonly isolates: boolean;
      readonly bounds: Bounds;
      /** What was tried before and did not work, so that it works in a lesser way. */
      readonly notes?: readonly string[];
    }
  | { readonly works: false; readonly reason: string; readonly fixes: readonly string[] };

/** What of all processes of a sandbox together is bounded. What is not is bounded for each process by itself, or not at all. */
export interface Bounds {
  readonly memory: boolean;
  readonly processes: boolean;
}

/** A sandbox to be made. Sandboxes of the same wishes are as good as each other. */
export interface SessionSpec {
  /** Read again whenever it is needed: that of a spare sandbox is renamed once. */
  readonly workspaceDir: string;
  /** Whether the workspace is mounted read-only. */
  readonly readOnly: boolean;
  readonly memoryBytes: number;
  readonly processes: number;
  /** Hosts and ports that its commands may reach, as in `deep_agent.network.allow`. Absent: it has no network. */
  readonly network?: readonly string[];
  /** Folder of the host with the socket `proxy`, to be mounted: all that the sandbox has of a network. */
  readonly proxyDir?: string;
}

export interface SessionRecord {
  readonly sessionId: string;
  /** Whether the toolhost that made it is gone. */
  readonly isOrphan: boolean;
}

/** One sandbox. It runs one command at a time; nothing of a command is left for the next but the workspace. */
export interface SandboxSession extends AsyncDisposable {
  readonly sessionId: string;
  /**
   * Runs one command. The events are `start`, any number of `out` and `keepalive`, and exactly one `end`, by which time
   * every process of the command is gone. An aborted signal ends the command: its reason is then `cancelled`. Never throws
   * for what the command does; throws a Failure when it cannot be started.
   */
  exec(command: SandboxCommand, signal: AbortSignal): AsyncIterable<ExecEvent>;
  /** Resolves when it is at rest after its last command: whether it may take another one. */
  settled(): Promise<boolean>;
}

/** A place where untrusted code runs, with one workspace at `/workspace`; any number of commands at a time. */
export interface Sandbox extends Pick<SandboxSession, "exec"> {
  readonly isolation: string;
}

/** Our own programs, which know how to do something inside. */
export type SandboxProgram =
  | "execute_code"
  | "workspace_files"
  | "workspace_search"
  | "workspace_entries"
  | "workspace_archive";

export interface SandboxCommand {
  /** The program and its arguments; of one of ours, its arguments. */
  readonly argv: readonly string[];
  readonly program?: SandboxProgram;
  /** Bytes for the standard input. Absent: it is empty. */
  readonly stdin?: Uint8Array | AsyncIterable<Uint8Array>;
  /** Additions to the minimal environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether the workspace is mounted read-only. */
  readonly readOnly?: boolean;
  /** What it may reach of the network, and for whom. Absent: nothing. */
  readonly network?: NetworkUse;
  readonly limits: SandboxLimits;
}

/** The network of one call. */
export interface NetworkUse {
  readonly allow: readonly string[];
  readonly runId: string;
  readonly callId: string;
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
  /** Nothing was written for a while, and the command still runs. */
  | { readonly kind: "keepalive" }
  | ExecEnd;
