import type { Losses, OpenWorkspace, Workspaces } from "@reeve/calls/ports/workspaces";
import type { Sandbox } from "@reeve/sandbox/port";
import type { SkillFolders, UsedFolder } from "./skill-folders.ts";

/** Adds the skills of a call to what its sandbox mounts. Without folders for skills, no sandbox has any. */
export function skilledWorkspaces(
  workspaces: Workspaces,
  folders: Pick<SkillFolders, "use"> | undefined,
): Workspaces {
  return {
    async open(request, signal) {
      const { tenant, skills = [] } = request;
      if (folders === undefined || skills.length === 0) return workspaces.open(request, signal);
      using opening = new DisposableStack();
      const folder = opening.use(await folders.use(tenant, skills, signal));
      const workspace = await workspaces.open(request, signal);
      opening.move();
      return new SkilledWorkspace(workspace, folder);
    },
  };
}

/** A workspace whose commands have skills. */
class SkilledWorkspace implements OpenWorkspace {
  readonly sandbox: Sandbox;
  readonly #workspace: OpenWorkspace;
  readonly #folder: UsedFolder;

  constructor(workspace: OpenWorkspace, folder: UsedFolder) {
    this.#workspace = workspace;
    this.#folder = folder;
    const { sandbox } = workspace;
    this.sandbox = {
      isolation: sandbox.isolation,
      exec: (command, signal) => sandbox.exec({ ...command, skillsDir: folder.path }, signal),
    };
  }

  get revision(): number {
    return this.#workspace.revision;
  }

  get losses(): Losses | undefined {
    return this.#workspace.losses;
  }

  holdAlone(signal: AbortSignal): Promise<void> {
    return this.#workspace.holdAlone(signal);
  }

  markLossesReported(): void {
    this.#workspace.markLossesReported();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    using _ = this.#folder;
    await this.#workspace[Symbol.asyncDispose]();
  }
}
