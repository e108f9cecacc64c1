import { randomUUID } from "node:crypto";
import type { GetCallerResponse } from "#contracts/identity";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type { ListModelsResponse } from "#contracts/agent";
import type {
  AnswerQuestionRequestSchema,
  Approval,
  DecideApprovalRequestSchema,
  Grant,
} from "#contracts/approval";
import { ApprovalSchema, GrantSchema } from "#contracts/approval";
import type { Artifact } from "#contracts/artifact";
import type { ExportRunLogResponse, Run, StartRunRequestSchema } from "#contracts/run";
import { RunOrder, RunSchema } from "#contracts/run";
import type { ExecutionTree } from "#contracts/thread";
import { ExecutionTreeSchema } from "#contracts/thread";
import type { ToolDescriptor } from "#contracts/tool";
import { Agents } from "./agents.ts";
import type { WatchApprovalsOptions } from "./watch/approval-watch.ts";
import { ApprovalWatch } from "./watch/approval-watch.ts";
import { Approvals } from "./approvals.ts";
import { AuditTrail } from "./audit.ts";
import { DeadNotifications } from "./dead-notifications.ts";
import type { ClientOptions, Settings } from "./client-options.ts";
import { settingsFrom } from "./client-options.ts";
import type { Services } from "./connection.ts";
import { Files } from "./files.ts";
import type {
  CallOptions,
  ListApprovalsOptions,
  ListGrantsOptions,
  ListArtifactsOptions,
  ListRunsOptions,
  SendOptions,
} from "./call-options.ts";
import { Knowledge } from "./knowledge/knowledge.ts";
import { Memories } from "./memories.ts";
import { Models } from "./deployment/models.ts";
import { Operations } from "./operations.ts";
import { Passkeys } from "./passkeys.ts";
import { Receipts } from "./receipts.ts";
import { Requests } from "./requests.ts";
import { Threads } from "./threads.ts";
import { Workflows } from "./automation/workflows.ts";
import { Triggers } from "./automation/triggers.ts";
import type { ClientTool } from "./tools/client-tool.ts";
import type { ServeToolsOptions } from "./tools/serve-tools.ts";
import { serveTools } from "./tools/serve-tools.ts";
import type { Download, Upload } from "./transfer.ts";
import { openDownload, uploadArtifact } from "./transfer.ts";
import type { WatchOptions } from "./watch/watch.ts";
import { Watch } from "./watch/watch.ts";

/** Creates a client of a server. The client connects when it sends its first request. */
export function connect(options: ClientOptions): Client {
  return new Client(settingsFrom(options));
}

/** Options of the start of a run. */
export interface StartRunOptions extends CallOptions {
  /** Called with each possible mistake in the agent's spec or in the request that did not prevent the run from starting. */
  readonly onWarning?: (warning: string) => void;
}

/**
 * A client of a server. Each request ends within `requestTimeoutMs`. While no server can be reached, the client repeats a
 * request, unless the repetition could have a second effect. Requests throw a ReeveError; an aborted one throws the reason
 * of its signal.
 */
export class Client implements Disposable {
  readonly agents: Agents;
  readonly approvals: Approvals;
  readonly audit: AuditTrail;
  readonly deadNotifications: DeadNotifications;
  readonly files: Files;
  readonly knowledge: Knowledge;
  readonly memories: Memories;
  readonly models: Models;
  readonly operations: Operations;
  readonly passkeys: Passkeys;
  readonly receipts: Receipts;
  readonly threads: Threads;
  readonly workflows: Workflows;
  readonly triggers: Triggers;
  readonly #requests: Requests;

  constructor(settings: Settings) {
    this.#requests = new Requests(settings);
    this.agents = new Agents(this.#requests);
    this.approvals = new Approvals(this.#requests);
    this.audit = new AuditTrail(this.#requests);
    this.deadNotifications = new DeadNotifications(this.#requests);
    this.files = new Files(this.#requests);
    this.knowledge = new Knowledge(this.#requests);
    this.memories = new Memories(this.#requests);
    this.models = new Models(this.#requests);
    this.operations = new Operations(this.#requests);
    this.passkeys = new Passkeys(this.#requests);
    this.receipts = new Receipts(this.#requests);
    this.threads = new Threads(this.#requests);
    this.workflows = new Workflows(this.#requests);
    this.triggers = new Triggers(this.#requests);
  }

  /** The generated services over the current connection, for requests that have no method here. */
  get services(): Services {
    return this.#requests.current;
  }

  /** Starts a run. The same `requestId` always means the same run, also in another process. Default: a new run. */
  async startRun(
    request: MessageInitShape<typeof StartRunRequestSchema>,
    options: StartRunOptions = {},
  ): Promise<Run> {
    const message = { ...request, requestId: request.requestId || randomUUID() };
    const { run, warnings } = await this.#requests.repeatable(
      ({ runs }, call) => runs.startRun(message, call),
      options,
    );
    for (const warning of warnings) options.onWarning?.(warning);
    return run ?? create(RunSchema);
  }

  /** Returns the events of a run, until its end. */
  watch(runId: string, options: WatchOptions = {}): Watch {
    return new Watch(this.#requests, this.#requests.settings, runId, options);
  }

  async getRun(runId: string, options: CallOptions = {}): Promise<Run> {
    const { run } = await this.#requests.repeatable(
      ({ runs }, call) => runs.getRun({ runId }, call),
      options,
    );
    return run ?? create(RunSchema);
  }

  /** Lists runs, newest first unless the options say otherwise. */
  listRuns(options: ListRunsOptions = {}): AsyncGenerator<Run, void, undefined> {
    const { agentId = "", threadId = "", statuses = [], filter, byCost = false } = options;
    return this.#requests.list(async ({ runs }, page, call) => {
      const request = {
        agentId,
        threadId,
        statuses: [...statuses],
        ...(byCost && { order: RunOrder.COST }),
        ...(filter && { filter }),
        ...page,
      };
      const { runs: items, nextPageToken } = await runs.listRuns(request, call);
      return { items, nextPageToken };
    }, options);
  }

  /**
   * Sends a message to a run that has not ended, once however often the request is repeated. A run that has ended throws
   * `RUN_ENDED`.
   */
  async sendMessage(runId: string, text: string, options: SendOptions = {}): Promise<void> {
    const request = { runId, text, messageId: randomUUID(), parts: [...(options.parts ?? [])] };
    await this.#requests.repeatable(({ runs }, call) => runs.sendMessage(request, call), options);
  }

  /** Cancels a run. Cancelling a cancelled run changes nothing; a run that ended otherwise throws `RUN_ENDED`. */
  async cancel(runId: string, reason = "", options: CallOptions = {}): Promise<Run> {
    const { run } = await this.#requests.repeatable(
      ({ runs }, call) => runs.cancelRun({ runId, reason }, call),
      options,
    );
    return run ?? create(RunSchema);
  }

  /**
   * Continues a run that failed in a new run, from its last good state, and returns the new run. Retrying it again returns the
   * same new run. A run that has not failed throws `RUN_NOT_FAILED`.
   */
  async retryRun(runId: string, options: CallOptions = {}): Promise<Run> {
    const { run } = await this.#requests.repeatable(
      ({ runs }, call) => runs.retryRun({ runId }, call),
      options,
    );
    return run ?? create(RunSchema);
  }

  /**
   * Deletes a run that has ended; any other throws `RUN_NOT_ENDED`, and one that another run continues `RUN_CONTINUED`.
   * Returns whether the run existed: deleting it again changes nothing.
   */
  async deleteRun(runId: string, options: CallOptions = {}): Promise<boolean> {
    const { existed } = await this.#requests.repeatable(
      ({ runs }, call) => runs.deleteRun({ runId }, call),
      options,
    );
    return existed;
  }

  /** Returns the tool calls and subtasks of a run. */
  async getExecutionTree(runId: string, options: CallOptions = {}): Promise<ExecutionTree> {
    const { tree } = await this.#requests.repeatable(
      ({ runs }, call) => runs.getExecutionTree({ runId }, call),
      options,
    );
    return tree ?? create(ExecutionTreeSchema);
  }

  /** Yields the batches of a run's log as they are stored, oldest first, for a verification or an archive. */
  async *exportRunLog(
    runId: string,
    options: CallOptions = {},
  ): AsyncGenerator<ExportRunLogResponse, void, undefined> {
    yield* this.#requests.stream(
      ({ runs }, call) => runs.exportRunLog({ runId }, call),
      options,
      this.#requests.settings.transferTimeoutMs,
    );
  }

  /** Lists approvals, oldest first. By default only pending ones. */
  listApprovals(options: ListApprovalsOptions = {}): AsyncGenerator<Approval, void, undefined> {
    const { runId = "", includeClosed = false, filter } = options;
    return this.#requests.list(async ({ approvals }, page, call) => {
      const request = { runId, includeClosed, ...(filter && { filter }), ...page };
      const { approvals: items, nextPageToken } = await approvals.listApprovals(request, call);
      return { items, nextPageToken };
    }, options);
  }

  /** Returns an approval. */
  async getApproval(approvalId: string, options: CallOptions = {}): Promise<Approval> {
    const { approval } = await this.#requests.repeatable(
      ({ approvals }, call) => approvals.getApproval({ approvalId }, call),
      options,
    );
    return approval ?? create(ApprovalSchema);
  }

  /** Returns the pending approvals, and each approval again when it changes, until the caller leaves the loop. */
  watchApprovals(options: WatchApprovalsOptions = {}): ApprovalWatch {
    return new ApprovalWatch(this.#requests, this.#requests.settings, options);
  }

  /** Decides an approval. It stays pending while it needs more votes. Once it is closed, any other decision throws `APPROVAL_CLOSED`. */
  async decide(
    request: MessageInitShape<typeof DecideApprovalRequestSchema>,
    options: CallOptions = {},
  ): Promise<Approval> {
    const message = { ...request, decisionId: request.decisionId || randomUUID() };
    const { approval } = await this.#requests.repeatable(
      ({ approvals }, call) => approvals.decideApproval(message, call),
      options,
    );
    return approval ?? create(ApprovalSchema);
  }

  /** Answers a question of an agent as somebody who asked for its run, or declines it. People with the role approver may use `decide`. */
  async answer(
    request: MessageInitShape<typeof AnswerQuestionRequestSchema>,
    options: CallOptions = {},
  ): Promise<Approval> {
    const message = { ...request, decisionId: request.decisionId || randomUUID() };
    const { approval } = await this.#requests.repeatable(
      ({ approvals }, call) => approvals.answerQuestion(message, call),
      options,
    );
    return approval ?? create(ApprovalSchema);
  }

  /** Lists the grants that have not expired, newest first. */
  listGrants(options: ListGrantsOptions = {}): AsyncGenerator<Grant, void, undefined> {
    const { agentId = "", runId = "" } = options;
    return this.#requests.list(async ({ approvals }, page, call) => {
      const request = { agentId, runId, ...page };
      const { grants: items, nextPageToken } = await approvals.listGrants(request, call);
      return { items, nextPageToken };
    }, options);
  }

  /** Revokes a grant: it decides no further approval. */
  async revokeGrant(grantId: string, options: CallOptions = {}): Promise<Grant> {
    const { grant } = await this.#requests.repeatable(
      ({ approvals }, call) => approvals.revokeGrant({ grantId }, call),
      options,
    );
    return grant ?? create(GrantSchema);
  }

  /** Stores a file as an artifact. Not repeated if the connection breaks, because the content may be gone. */
  async upload(upload: Upload, options: CallOptions = {}): Promise<Artifact> {
    return await uploadArtifact(this.#requests, upload, options);
  }

  /** Opens an artifact for reading. */
  async download(artifactId: string, options: CallOptions = {}): Promise<Download> {
    const messages = this.#requests.stream(
      ({ artifacts }, call) => artifacts.downloadArtifact({ artifactId }, call),
      options,
      this.#requests.settings.transferTimeoutMs,
    );
    const { description, chunks } = await openDownload<Artifact>(messages, artifactId);
    return { artifact: description, chunks };
  }

  /** Lists artifacts, oldest first. */
  listArtifacts(options: ListArtifactsOptions = {}): AsyncGenerator<Artifact, void, undefined> {
    const { runId = "" } = options;
    return this.#requests.list(async ({ artifacts }, page, call) => {
      const { artifacts: items, nextPageToken } = await artifacts.listArtifacts(
        { runId, ...page },
        call,
      );
      return { items, nextPageToken };
    }, options);
  }

  /** Deletes an artifact. Returns whether it existed: deleting it again changes nothing. */
  async deleteArtifact(artifactId: string, options: CallOptions = {}): Promise<boolean> {
    const { existed } = await this.#requests.repeatable(
      ({ artifacts }, call) => artifacts.deleteArtifact({ artifactId }, call),
      options,
    );
    return existed;
  }

  /**
   * Offers tools of this process to the runs of a thread, or to one run, and executes their calls until the run has ended or the signal
   * aborts. Each call is executed by one client only.
   */
  async serveTools(tools: readonly ClientTool[], options: ServeToolsOptions): Promise<void> {
    await serveTools(this.#requests, tools, options);
  }

  /** Lists the tools that agents may use. */
  async listTools(options: CallOptions = {}): Promise<readonly ToolDescriptor[]> {
    const { tools } = await this.#requests.repeatable(
      (services, call) => services.tools.listTools({}, call),
      options,
    );
    return tools;
  }

  /** Lists the models that agents may name, and the providers. */
  async listModels(options: CallOptions = {}): Promise<ListModelsResponse> {
    return await this.#requests.repeatable(
      ({ agents }, call) => agents.listModels({}, call),
      options,
    );
  }

  /** Returns who the server takes this client for: tenant, subject, groups, and roles. */
  async getCaller(options: CallOptions = {}): Promise<GetCallerResponse> {
    return await this.#requests.repeatable(
      ({ identity }, call) => identity.getCaller({}, call),
      options,
    );
  }

  /** Closes the connection. Requests and watches of the client then throw. A client that `using` declares closes itself. */
  close(): void {
    this.#requests[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
