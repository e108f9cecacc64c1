import type { FileChange, ToolCallRequest } from "@reeve/contracts/tool";
import type { Sandbox } from "@reeve/sandbox/port";
import type { Progress } from "../ports/tool.ts";
import type { Losses, OpenWorkspace, Workspaces } from "../ports/workspaces.ts";

/** How many calls the note on losses names: the model reads it with the result, within the same limit. */
const maxNamed = 6;
const maxNameLength = 64;

/** The workspace of one call: opened when the tool first needs it, and in use until the call has ended. */
export class CallWorkspace implements AsyncDisposable {
  readonly #request: ToolCallRequest;
  readonly #onProgress: (progress: Progress) => void;
  readonly #workspaces: Workspaces;
  #opening: Promise<OpenWorkspace> | undefined;
  #open: OpenWorkspace | undefined;

  constructor(
    request: ToolCallRequest,
    onProgress: (progress: Progress) => void,
    workspaces: Workspaces,
  ) {
    this.#request = request;
    this.#onProgress = onProgress;
    this.#workspaces = workspaces;
  }

  /** Returns the sandbox of the workspace, which is opened once. A workspace that did not open is tried again. */
  async sandbox(signal: AbortSignal): Promise<Sandbox> {
    this.#opening ??= this.#openOnce(signal).catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return (await this.#opening).sandbox;
  }

  /** Returns the sandbox of the workspace, when nothing but this call writes to it until the call has ended. */
  async sandboxAlone(signal: AbortSignal): Promise<Sandbox> {
    const sandbox = await this.sandbox(signal);
    await this.#open?.holdAlone(signal);
    return sandbox;
  }

  /** What the result of the call has to say about its workspace. `note` is for the model to read before the content. */
  get usage() {
    const lostChanges = this.#lostChanges;
    const losses = this.#open?.losses;
    const hasNote =
      losses !== undefined &&
      (lostChanges.length > 0 || losses.lostMore > 0 || losses.lostSnapshot);
    return {
      workspaceRevision: this.#open?.revision ?? 0,
      lostChanges,
      note: hasNote ? lossesNote({ ...losses, lost: [...lostChanges] }) : "",
    };
  }

  /** Confirms that the result is recorded. */
  markLossesReported(): void {
    this.#open?.markLossesReported();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A call that ended while its workspace was being opened must not keep it.
    await this.#opening?.catch(() => undefined);
    await this.#open?.[Symbol.asyncDispose]();
  }

  /** A call that is executed again does not report the changes of its own earlier attempt. */
  get #lostChanges(): readonly FileChange[] {
    const { call } = this.#request;
    const lost = this.#open?.losses?.lost ?? [];
    return lost.filter(({ callId }) => callId === "" || callId !== call?.callId);
  }

  async #openOnce(signal: AbortSignal): Promise<OpenWorkspace> {
    const { tenant, runId, call, workspace, settings } = this.#request;
    const request = {
      tenant,
      runId,
      id: workspace?.id || runId,
      callId: call?.callId ?? "",
      tool: call?.name ?? "",
      files: workspace?.files ?? [],
      stagedFor: workspace?.stagedFor || runId,
      skills: settings?.skills ?? [],
      onProgress: this.#onProgress,
    };
    this.#open = await this.#workspaces.open(request, signal);
    return this.#open;
  }
}

function lossesNote({ lost, lostMore, lostSnapshot }: Losses): string {
  const named = lost
    .slice(0, maxNamed)
    .map(({ callId, tool }) => `${callId || "a client"} (${tool.slice(0, maxNameLength)})`);
  const unnamed = lost.length - named.length + lostMore;
  if (unnamed > 0) named.push(`${unnamed} more`);
  const everything = lostSnapshot
    ? ["everything that was in the workspace is gone except the input files of this run"]
    : [];
  const calls =
    named.length === 0 ? [] : [`changes to files by these calls are gone: ${named.join(", ")}`];
  const what = [...everything, ...calls].join("; ");
  return `[the toolhost that had the workspace was lost: ${what}. Look at the files before you rely on them.]\n`;
}
