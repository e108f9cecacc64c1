/** Creates sandboxes with one kind of isolation. */
export interface SandboxDriver {
  /** Name of the isolation, as in results and catalogs: `bubblewrap`. */
  readonly name: string;
  /**
   * Where the files of a workspace are stored: `host` is the folder `workspaceDir` of this host, which sandboxes see as it
   * is; `session` is the sandbox only, which starts with an empty workspace and deletes it when it ends. Default: `host`.
   */
  readonly keepsWorkspace?: "host" | "session";
  /** Checks whether the driver works on this machine, and what it can limit. */
  probe(signal: AbortSignal): Promise<ProbeReport>;
  /** Starts a sandbox with a workspace. Throws a Failure if that is not possible. */
  open(spec: SessionSpec, signal: AbortSignal): Promise<SandboxSession>;
  /** Returns all sandboxes of this deployment on this machine, including those of dead toolhosts. */
  list(signal: AbortSignal): Promise<readonly SessionRecord[]>;
  /** Ends a sandbox and removes its resources, whichever toolhost started it. A missing sandbox is not an error. */
  destroy(sessionId: string, signal: AbortSignal): Promise<void>;
}

/** Name of the driver that runs our own file programs and nothing else. */
export const filesOnly = "files-only";

/** Whether a driver works and, if not, why and how to fix it. */
export type ProbeReport =
  | {
      readonly works: true;
      readonly isolates: boolean;
      readonly bounds: Bounds;
      /** Better options that were tried first and did not work. */
      readonly notes?: readonly string[];
    }
  | {
      readonly works: false;
      readonly reason: string;
      readonly fixes: readonly string[];
      /** Whether the driver may work later although nobody changes anything, as after a restart of what it uses. Default: false. */
      readonly isTransient?: boolean;
    };

/** Limits that hold for all processes of a sandbox together. Other limits hold for each process, or not at all. */
export interface Bounds {
  readonly memory: boolean;
  readonly processes: boolean;
}

/** Describes a sandbox to start. Sandboxes with equal specs are interchangeable. */
export interface SessionSpec {
  /** Read each time it is needed: the folder of a spare sandbox is renamed once. */
  readonly workspaceDir: string;
  /** Whether the workspace is mounted read-only. */
  readonly readOnly: boolean;
  readonly memoryBytes: number;
  readonly processes: number;
  /** How many processors all of its processes may use together, after all others. Default: no limit. Only where the host can limit it. */
  readonly cpus?: number;
  /** Hosts and ports that commands may reach, as in `deep_agent.network.allow`. Default: no network. */
  readonly network?: readonly string[];
  /** Folder of the host with the socket `proxy`, to mount as the only way to a network. */
  readonly proxyDir?: string;
  /**
   * Folder of the host to mount read-only as `skills` of the workspace; it hides what the workspace has there. Default: none. Only drivers
   * with isolation and with workspaces on this host mount it.
   */
  readonly skillsDir?: string;
}

export interface SessionRecord {
  readonly sessionId: string;
  /** Whether the toolhost that started the sandbox is dead. */
  readonly isOrphan: boolean;
}

/** One sandbox. It runs one command at a time. Between commands, only the workspace persists. */
export interface SandboxSession extends AsyncDisposable {
  readonly sessionId: string;
  /**
   * Identifies the folder of the workspace over which the skills are mounted, as it was before the mount. Default: the sandbox mounts no
   * skills.
   */
  readonly skillsMountPoint?: string;
  /**
   * Runs one command. Yields `start`, any number of `out` and `keepalive`, and exactly one `end`, by which time all
   * processes of the command are gone. An aborted signal ends the command with the reason `cancelled`. Never throws because
   * of what the command does; throws a Failure if the command cannot be started.
   */
  exec(command: SandboxCommand, signal: AbortSignal): AsyncIterable<ExecEvent>;
  /**
   * Continues with another call of the run for the command that is executed, whose connections are counted anew. Absent: the sandbox has
   * no network.
   */
  renewNetwork?(use: NetworkUse): void;
  /** Resolves when the sandbox has started, and has cleaned up after its last command. Returns whether it can run another one. */
  settled(): Promise<boolean>;
}

/** Runs untrusted code with one workspace, mounted at `/workspace`. Runs any number of commands at a time. */
export interface Sandbox extends Pick<SandboxSession, "exec"> {
  readonly isolation: string;
}

/** Our own programs, which run inside the sandbox. */
export type SandboxProgram =
  | "execute_code"
  | "workspace_files"
  | "workspace_search"
  | "workspace_entries"
  | "workspace_archive";

export interface SandboxCommand {
  /** The program and its arguments. With `program`, only its arguments. */
  readonly argv: readonly string[];
  readonly program?: SandboxProgram;
  /** Standard input. Default: empty. */
  readonly stdin?: Uint8Array | AsyncIterable<Uint8Array>;
  /** Additions to the minimal environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether the workspace is mounted read-only. */
  readonly readOnly?: boolean;
  /** Network access of the command. Default: none. */
  readonly network?: NetworkUse;
  /** Folder of skills that the command sees, as `SessionSpec.skillsDir`. Default: none. */
  readonly skillsDir?: string;
  readonly limits: SandboxLimits;
}

/** Network access of one call. */
export interface NetworkUse {
  readonly allow: readonly string[];
  readonly runId: string;
  readonly callId: string;
  /** The credentials that the proxy may use for the call. Default: none. */
  readonly credentials?: CredentialUse;
}

/** The tenant of a call, and the credentials of the operator that its agent names. Their secrets are those of the tenant. */
export interface CredentialUse {
  readonly tenant: string;
  readonly names: readonly string[];
}

export interface SandboxLimits {
  /** Wall-clock time. */
  readonly timeoutMs: number;
  /** Bytes of all output streams together. A command that exceeds them is ended. */
  readonly outputBytes: number;
  /** Memory of all processes together, or of each process on hosts that cannot count them together. */
  readonly memoryBytes: number;
  readonly processes: number;
  /** Size of one file. */
  readonly fileBytes: number;
  /** Size and number of all files of the workspace, measured periodically while a command runs. */
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

/** `result` is file descriptor 3, on which our own programs report, apart from the output of untrusted code. */
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
  /** Exit code of the command. A code of 128 or more is 128 plus the signal that ended it. */
  readonly code: number | undefined;
  readonly durationMs: number;
}

export type ExecEvent =
  | { readonly kind: "start" }
  | { readonly kind: "out"; readonly stream: OutputStream; readonly bytes: Uint8Array }
  /** The command still runs, but has written nothing for a while. */
  | { readonly kind: "keepalive" }
  | ExecEnd;
