import { randomUUID } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { persistently } from "./back-off.ts";
import type { Connection, Services } from "./connection.ts";
import { openConnection } from "./connection.ts";
import type { Approval, DecideApprovalRequestSchema } from "./gen/reeve/approval/v1/approval_pb.ts";
import { ApprovalSchema } from "./gen/reeve/approval/v1/approval_pb.ts";
import type { Artifact } from "./gen/reeve/artifact/v1/artifact_pb.ts";
import { ArtifactSchema } from "./gen/reeve/artifact/v1/artifact_pb.ts";
import type { Run, StartRunRequestSchema } from "./gen/reeve/run/v1/run_service_pb.ts";
import { RunSchema } from "./gen/reeve/run/v1/run_service_pb.ts";
import type { ClientOptions, Settings } from "./options.ts";
import { settingsOf } from "./options.ts";
import { ReeveError } from "./reeve-error.ts";
import type { Download, Upload } from "./transfer.ts";
import { openDownload, uploadParts } from "./transfer.ts";
import type { WatchOptions } from "./watch.ts";
import { Watch } from "./watch.ts";

/** What a request can be ended by. */
export interface CallOptions {
  readonly signal?: AbortSignal;
}

/** Opens a client of a server. It connects with its first request. */
export function connect(options: ClientOptions): Client {
  return new Client(settingsOf(options));
}

/**
 * A client of a server. Every request ends within `requestTimeoutMs`, and is repeated in that time while no server can be
 * reached, never with a second effect. What is refused is a ReeveError.
 */
export class Client implements Disposable {
  readonly #settings: Settings;
  #connection: Connection;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#connection = openConnection(settings);
  }

  /** The services as they are generated, for all that has no method here. */
  get services(): Services {
    return this.#connection;
  }

  /** Starts a run. Repeated with the same `requestId`, also by another process, it is the same run; by default it is a new one. */
  async startRun(
    request: MessageInitShape<typeof StartRunRequestSchema>,
    options: CallOptions = {},
  ): Promise<Run> {
    const whole = { ...request, requestId: request.requestId || randomUUID() };
    const { run } = await this.#call(
      (services, call) => services.runs.startRun(whole, call),
      options,
    );
    return run ?? create(RunSchema);
  }

  /** The events of a run, to its end. */
  watch(runId: string, options: WatchOptions = {}): Watch {
    // The connection is another one once it was renewed.
    const current = () => this.#connection;
    const source = {
      get current() {
        return current();
      },
      renew: (suspect: unknown) => this.#renew(suspect),
    };
    return new Watch(source, this.#settings, runId, options);
  }

  async getRun(runId: string, options: CallOptions = {}): Promise<Run> {
    const { run } = await this.#call(({ runs }, call) => runs.getRun({ runId }, call), options);
    return run ?? create(RunSchema);
  }

  /** Cancels a run. A run that was cancelled before stays so; one that ended otherwise is refused with `RUN_ENDED`. */
  async cancel(runId: string, reason = "", options: CallOptions = {}): Promise<Run> {
    const { run } = await this.#call(
      ({ runs }, call) => runs.cancelRun({ runId, reason }, call),
      options,
    );
    return run ?? create(RunSchema);
  }

  /** The approvals that are pending, oldest first: of a run, or of all. */
  async listApprovals(runId = "", options: CallOptions = {}): Promise<Approval[]> {
    const found: Approval[] = [];
    for (let pageToken = ""; ;) {
      const request = { runId, pageToken };
      const page = await this.#call(
        ({ approvals }, call) => approvals.listApprovals(request, call),
        options,
      );
      found.push(...page.approvals);
      pageToken = page.nextPageToken;
      if (pageToken === "") return found;
    }
  }

  /** Decides an approval. Of several decisions one wins; the others are refused with `APPROVAL_CLOSED`. */
  async decide(
    request: MessageInitShape<typeof DecideApprovalRequestSchema>,
    options: CallOptions = {},
  ): Promise<Approval> {
    const whole = { ...request, decisionId: request.decisionId || randomUUID() };
    const { approval } = await this.#call(
      ({ approvals }, call) => approvals.decideApproval(whole, call),
      options,
    );
    return approval ?? create(ApprovalSchema);
  }

  /** Stores a file. It is not repeated when the connection breaks: what was sent is gone. */
  async upload(upload: Upload, { signal }: CallOptions = {}): Promise<Artifact> {
    const timeoutMs = this.#settings.transferTimeoutMs;
    const call = { timeoutMs, ...(signal && { signal }) };
    try {
      const parts = uploadParts(upload);
      const { artifact } = await this.#connection.artifacts.uploadArtifact(parts, call);
      return artifact ?? create(ArtifactSchema);
    } catch (error) {
      signal?.throwIfAborted();
      throw ReeveError.from(error);
    }
  }

  /** Opens a stored file. */
  async download(artifactId: string, { signal }: CallOptions = {}): Promise<Download> {
    const timeoutMs = this.#settings.transferTimeoutMs;
    return await openDownload(this.#connection, artifactId, {
      timeoutMs,
      ...(signal && { signal }),
    });
  }

  /** Closes the connection and whatever goes over it. */
  [Symbol.dispose](): void {
    this.#connection[Symbol.dispose]();
  }

  async #call<Response>(
    request: (services: Services, call: CallOptions & { timeoutMs: number }) => Promise<Response>,
    { signal }: CallOptions,
  ): Promise<Response> {
    return await persistently(
      (timeoutMs) => request(this.#connection, { timeoutMs, ...(signal && { signal }) }),
      this.#settings.requestTimeoutMs,
      signal,
    );
  }

  /** Opens another connection instead of one that went silent; what else goes over that one is cut off, and resumes. */
  #renew(suspect: unknown): void {
    if (suspect !== this.#connection) return;
    const { [Symbol.dispose]: close } = this.#connection;
    this.#connection = openConnection(this.#settings);
    close();
  }
}
