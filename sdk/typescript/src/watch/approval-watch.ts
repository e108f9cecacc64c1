import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Approval, ApprovalFilterSchema } from "#contracts/approval";
import type { Services } from "../connection.ts";
import type { ConnectionSource, LiveLimits, LiveOptions } from "./live-stream.ts";
import { liveStream } from "./live-stream.ts";

/** Which approvals to watch. Without a filter: all. */
export interface WatchApprovalsOptions extends LiveOptions {
  /** Only approvals of this run. */
  readonly runId?: string;
  /** Only approvals that match. */
  readonly filter?: MessageInitShape<typeof ApprovalFilterSchema> | undefined;
  /** `resumeToken` of the watch that the caller continues, with the same `runId` and `filter`. */
  readonly resumeToken?: string;
  /**
   * Called for each connection, before its first approvals. `isAnew` is false if they are what has changed since the last ones.
   * Otherwise they are everything that waits: what has been closed meanwhile is not among them.
   */
  readonly onConnected?: (isAnew: boolean) => void;
}

/**
 * The pending approvals, and then each approval again when it changes, over any number of lost connections. After one, the watch
 * continues with what has changed, also with what was closed; if the server cannot continue there, it begins anew. Throws a ReeveError if
 * the server refuses, or if nothing is received for `reconnectTimeoutMs`. A second loop continues after the first.
 */
export class ApprovalWatch implements AsyncIterable<Approval> {
  readonly #source: ConnectionSource<Pick<Services, "approvals">>;
  readonly #limits: LiveLimits;
  readonly #options: WatchApprovalsOptions;
  #resumeToken: string;

  constructor(
    source: ConnectionSource<Pick<Services, "approvals">>,
    limits: LiveLimits,
    options: WatchApprovalsOptions = {},
  ) {
    this.#source = source;
    this.#limits = limits;
    this.#options = options;
    this.#resumeToken = options.resumeToken ?? "";
  }

  /**
   * Names what the caller has received. Pass it as `resumeToken` to continue in another watch. Empty until the caller has had everything
   * that waited at first.
   */
  get resumeToken(): string {
    return this.#resumeToken;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Approval, void, undefined> {
    const { runId = "", filter, onConnected } = this.#options;
    let [opened, announced] = [0, 0];
    const stream = {
      name: "approvals",
      open: (
        { approvals }: Pick<Services, "approvals">,
        call: { readonly signal: AbortSignal },
      ) => {
        opened++;
        const resumeToken = this.#resumeToken;
        return approvals.watchApprovals({ runId, resumeToken, ...(filter && { filter }) }, call);
      },
    };
    const messages = liveStream(this.#source, stream, this.#limits, this.#options);
    for await (const { approvals, resumeToken } of messages) {
      if (announced < opened) onConnected?.(resumeToken === "");
      announced = opened;
      yield* approvals;
      // Only now: a caller that leaves the loop gets the rest of the message again.
      this.#resumeToken = resumeToken;
    }
  }
}
