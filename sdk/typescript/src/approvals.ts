import { randomUUID } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  CountApprovalsResponse,
  DecideApprovalsRequestSchema,
  DecisionResult,
} from "#contracts/approval";
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
}
