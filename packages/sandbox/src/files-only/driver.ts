import { ErrorReason } from "@reeve/contracts/error";
import { Failure } from "@reeve/platform/failure";
import type {
  ExecEvent,
  ProbeReport,
  SandboxCommand,
  SandboxDriver,
  SandboxProgram,
  SandboxSession,
  SessionRecord,
  SessionSpec,
} from "../port.ts";
import { filesOnly } from "../port.ts";

/** Programs that only work on files and run no code of others. */
const filePrograms: ReadonlySet<SandboxProgram | undefined> = new Set([
  "workspace_files",
  "workspace_search",
  "workspace_archive",
  "workspace_entries",
] as const);

/**
 * Runs our own file programs without isolation, as processes of `local` with an empty environment, resource limits, and no
 * more rights than sandboxes have. The programs themselves stay within the workspace: no untrusted code runs that could race
 * them, and restoring a snapshot leaves out links that lead outside.
 */
export class FilesOnlyDriver implements SandboxDriver {
  readonly name = filesOnly;
  readonly #local: SandboxDriver;

  /** `local` starts the processes. */
  constructor(local: SandboxDriver) {
    this.#local = local;
  }

  async probe(signal: AbortSignal): Promise<ProbeReport> {
    return await this.#local.probe(signal);
  }

  async open(spec: SessionSpec, signal: AbortSignal): Promise<SandboxSession> {
    return new FilesOnlySession(await this.#local.open(spec, signal));
  }

  async list(signal: AbortSignal): Promise<readonly SessionRecord[]> {
    return await this.#local.list(signal);
  }

  async destroy(sessionId: string, signal: AbortSignal): Promise<void> {
    await this.#local.destroy(sessionId, signal);
  }
}

class FilesOnlySession implements SandboxSession {
  readonly #session: SandboxSession;

  constructor(session: SandboxSession) {
    this.#session = session;
  }

  get sessionId(): string {
    return this.#session.sessionId;
  }

  async *exec(command: SandboxCommand, signal: AbortSignal): AsyncIterable<ExecEvent> {
    if (!filePrograms.has(command.program)) throw refusal(command);
    yield* this.#session.exec(command, signal);
  }

  settled(): Promise<boolean> {
    return this.#session.settled();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#session[Symbol.asyncDispose]();
  }
}

function refusal({ program, argv }: SandboxCommand): Failure {
  const name = program ?? argv[0] ?? "an empty command";
  const problem = `cannot run ${name}: this host has no isolation, only file tools work`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
}
