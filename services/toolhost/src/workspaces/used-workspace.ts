import type { Losses, OpenWorkspace, WorkspaceRequest } from "@reeve/calls/ports/workspaces";
import type { Sandbox } from "@reeve/sandbox/port";
import type { HeldWorkspace } from "./held-workspace.ts";
import type { WorkspacePorts } from "./workspace-ports.ts";
import { lossesOf, withReportedLosses } from "./workspace-record.ts";
import { workspaceSandbox } from "./sandbox/workspace-sandbox.ts";

/** How long the record of reported losses waits for the store. */
const clearTimeoutMs = 30_000;

/** A workspace on this host in use by one call, until it is disposed. */
export class UsedWorkspace implements OpenWorkspace {
  readonly sandbox: Sandbox;
  readonly losses: Losses | undefined;
  readonly #held: HeldWorkspace;
  readonly #request: WorkspaceRequest;
  readonly #onEnd: () => void;
  #recording: Promise<number> | undefined;
  #areLossesReported = false;
  #leaveAlone: (() => void) | undefined;
  revision = 0;

  /** `sandbox` is that of the storage; `onEnd` is called when the call no longer uses the workspace. */
  constructor(
    held: HeldWorkspace,
    request: WorkspaceRequest,
    sandbox: Sandbox,
    { limits, onEnd }: Pick<WorkspacePorts, "limits"> & { readonly onEnd: () => void },
  ) {
    this.#held = held;
    this.#request = request;
    this.#onEnd = onEnd;
    const { onProgress, callId } = request;
    this.sandbox = workspaceSandbox(sandbox, {
      quota: limits,
      changes: {
        record: (signal) => this.#record(signal),
        onRecorded: (revision) => (this.revision = revision),
      },
      enter: async (signal) =>
        this.#leaveAlone === undefined ? await held.lock.write(signal) : () => undefined,
      ...(onProgress && { onProgress }),
    });
    this.losses = callId === "" || held.isReportingLosses ? undefined : lossesOf(held.record);
    held.isReportingLosses ||= this.losses !== undefined;
  }

  async holdAlone(signal: AbortSignal): Promise<void> {
    this.#leaveAlone ??= await this.#held.lock.takeAlone(signal);
  }

  markLossesReported(): void {
    this.#areLossesReported = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Nobody waits for it. If it fails, the losses are reported twice, which is better than never.
    if (this.losses !== undefined) void this.#clearLosses(this.losses);
    // Before that, the keeper would not know that there is something to save.
    await this.#recording?.catch(() => undefined);
    this.#leaveAlone?.();
    this.#onEnd();
  }

  async #clearLosses(losses: Losses): Promise<void> {
    try {
      if (this.#areLossesReported) {
        const signal = AbortSignal.timeout(clearTimeoutMs);
        await this.#held.change((record) => withReportedLosses(record, losses), signal);
      }
    } catch {
      // The next call reports them again.
    } finally {
      this.#held.isReportingLosses = false;
    }
  }

  /** Records the call in the workspace once, however many commands it runs. */
  #record(signal: AbortSignal): Promise<number> {
    this.#recording ??= this.#held.recordCall(this.#request, signal);
    return this.#recording;
  }
}
