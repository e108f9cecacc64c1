import type { FileChange, ToolCallRequest } from "@reeve/contracts/tool";
import { lossesNote } from "./losses-note.ts";
import type { Sandbox } from "@reeve/sandbox/port";
import type { OpenWorkspace, Workspaces } from "../ports/workspaces.ts";

/** The workspace of one call: opened when the tool asks for it, and in use until the call is over. */
export class CallWorkspace implements AsyncDisposable {
  readonly #request: ToolCallRequest;
  readonly #workspaces: Workspaces;
  #opening: Promise<OpenWorkspace> | undefined;
  #open: OpenWorkspace | undefined;

  constructor(request: ToolCallRequest, workspaces: Workspaces) {
    this.#request = request;
    this.#workspaces = workspaces;
  }

  /** The sandbox over the workspace. It is opened once; one that could not be opened is tried again. */
  async sandbox(signal: AbortSignal): Promise<Sandbox> {
    this.#opening ??= this.#get(signal).catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return (await this.#opening).sandbox;
  }

  /** What the result of the call tells of its workspace. */
  get told() {
    const lostChanges = this.#lost;
    const losses = this.#open?.losses;
    const isTold =
      losses !== undefined &&
      (lostChanges.length > 0 || losses.lostMore > 0 || losses.lostSnapshot);
    return {
      workspaceRevision: this.#open?.revision ?? 0,
      lostChanges,
      note: isTold ? lossesNote({ ...losses, lost: [...lostChanges] }) : "",
    };
  }

  /** Says that the result stands. */
  settle(): void {
    this.#open?.told();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A call that was ended while its workspace was on its way must not keep it.
    await this.#opening?.catch(() => undefined);
    await this.#open?.[Symbol.asyncDispose]();
  }

  /** A call that is made again need not hear that its first attempt is gone. */
  get #lost(): readonly FileChange[] {
    const { call } = this.#request;
    const lost = this.#open?.losses?.lost ?? [];
    return lost.filter(({ callId }) => callId === "" || callId !== call?.callId);
  }

  async #get(signal: AbortSignal): Promise<OpenWorkspace> {
    const { tenant, runId, call, workspace } = this.#request;
    const wanted = {
      tenant,
      runId,
      id: workspace?.id || runId,
      callId: call?.callId ?? "",
      tool: call?.name ?? "",
      files: workspace?.files ?? [],
    };
    this.#open = await this.#workspaces.open(wanted, signal);
    return this.#open;
  }
}
