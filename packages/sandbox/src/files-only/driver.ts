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
import type { Identity } from "../host/identity.ts";
import { UnsafeLocalDriver } from "../unsafe-local/driver.ts";

/** Our programs that touch files as they are told, and run nothing of others. */
const overFiles: ReadonlySet<SandboxProgram | undefined> = new Set([
  "workspace_files",
  "workspace_search",
  "workspace_archive",
  "workspace_entries",
] as const);

/**
 * No isolation, and nothing that would need one: our own programs over the files of a workspace are processes of this
 * machine, with an empty environment, their limits, and no more rights than sandboxes have. That they keep to the workspace
 * is their own doing; no code of others runs that could race them, and no link that leads out is laid in.
 */
export class FilesOnlyDriver implements SandboxDriver {
  readonly name = filesOnly;
  readonly #processes: UnsafeLocalDriver;

  constructor(identity: Identity) {
    this.#processes = new UnsafeLocalDriver(identity);
  }

  async probe(): Promise<ProbeReport> {
    return await this.#processes.probe();
  }

  async open(spec: SessionSpec, signal: AbortSignal): Promise<SandboxSession> {
    return new FilesOnlySession(await this.#processes.open(spec, signal));
  }

  async list(): Promise<readonly SessionRecord[]> {
    return await this.#processes.list();
  }

  async destroy(sessionId: string): Promise<void> {
    await this.#processes.destroy(sessionId);
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
    if (!overFiles.has(command.program)) throw notRun(command);
    yield* this.#session.exec(command, signal);
  }

  settled(): Promise<boolean> {
    return this.#session.settled();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#session[Symbol.asyncDispose]();
  }
}

function notRun({ program, argv }: SandboxCommand): Failure {
  const what = program ?? argv[0] ?? "nothing";
  const problem = `${what} is not run here: there is no isolation, and only tools over files work`;
  return new Failure("unavailable", ErrorReason.UNAVAILABLE, problem);
}
