import { randomUUID } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import type {
  Approval,
  CountApprovalsResponse,
  DecideApprovalsRequestSchema,
  DecisionResult,
  SimilarDecision,
} from "#contracts/approval";
import { ApprovalSchema } from "#contracts/approval";
import type { CallOptions } from "./call-options.ts";
import type { Requests } from "./requests.ts";

/** The inbox of the tenant, beyond its list. */
export class Approvals {
  readonly #requests: Requests;

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  /** Counts approvals: by state, and the pending ones by agent, by tool, and for the caller. */
  async count(options: CallOptions = {}): Promise<CountApprovalsResponse> {
    return await this.#requests.repeatable(
      ({ approvals }, call) => approvals.countApprovals({}, call),
      options,
    );
  }

  /** Decides up to 100 approvals alike. Returns a result for each, in the order of the request: some may have an `error`. */
  async decide(
    request: MessageInitShape<typeof DecideApprovalsRequestSchema>,
    options: CallOptions = {},
  ): Promise<readonly DecisionResult[]> {
    const message = { ...request, decisionId: request.decisionId || randomUUID() };
    const { results } = await this.#requests.repeatable(
      ({ approvals }, call) => approvals.decideApprovals(message, call),
      options,
    );
    return results;
  }

  /** Returns how people decided earlier calls of the same tool by the same agent, newest first: at most 5. */
  async similar(
    approvalId: string,
    options: CallOptions = {},
  ): Promise<readonly SimilarDecision[]> {
    const { decisions } = await this.#requests.repeatable(
      ({ approvals }, call) => approvals.listSimilarDecisions({ approvalId }, call),
      options,
    );
    return decisions;
  }

  /** Adds a comment to a pending approval, once however often the request is repeated. It decides nothing. */
  async comment(approvalId: string, text: string, options: CallOptions = {}): Promise<Approval> {
    const commentId = randomUUID();
    const { approval } = await this.#requests.repeatable(
      ({ approvals }, call) => approvals.commentApproval({ approvalId, text, commentId }, call),
      options,
    );
    return approval ?? create(ApprovalSchema);
  }

  /** Says who takes care of a pending approval; nobody if `assignee` is empty. It changes nobody's rights. */
  async assign(approvalId: string, assignee: string, options: CallOptions = {}): Promise<Approval> {
    const { approval } = await this.#requests.repeatable(
      ({ approvals }, call) => approvals.assignApproval({ approvalId, assignee }, call),
      options,
    );
    return approval ?? create(ApprovalSchema);
  }
}
