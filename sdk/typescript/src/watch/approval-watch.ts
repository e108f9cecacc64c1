import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Approval, ApprovalFilterSchema, WatchApprovalsResponse } from "#contracts/approval";
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
    let start = new StreamStart("");
    const stream = {
      name: "approvals",
      open: (
        { approvals }: Pick<Services, "approvals">,
        call: { readonly signal: AbortSignal },
      ) => {
        const resumeToken = this.#resumeToken;
        start = new StreamStart(resumeToken);
        return approvals.watchApprovals({ runId, resumeToken, ...(filter && { filter }) }, call);
      },
      isOpening: ({ approvals }: WatchApprovalsResponse) => approvals.length === 0,
    };
    const messages = liveStream(this.#source, stream, this.#limits, this.#options);
    for await (const message of messages) {
      if (start.note(message)) onConnected?.(start.isAnew === true);
      const { approvals, resumeToken } = message;
      yield* approvals;
      // Only now: a caller that leaves the loop gets the rest of the message again. A message with neither names no place.
      if (approvals.length > 0 || resumeToken !== "") this.#resumeToken = resumeToken;
    }
  }
}

/** Finds out whether a stream continues where the client was. */
class StreamStart {
  #isAnew: boolean | undefined;
  #isUnknown = false;
  readonly #requested: string;

  /** `requested` is the token that the client sent. */
  constructor(requested: string) {
    this.#requested = requested;
  }

  get isAnew(): boolean | undefined {
    return this.#isAnew;
  }

  /**
   * Notes the next message, and returns whether it is the first one that says how the stream began. One without approvals and token does
   * not: it begins a stream anew, or is a heartbeat of an older server that continues. What follows differs: a stream that begins
   * anew has approvals without a token, and the token without approvals.
   */
  note({ approvals, resumeToken }: WatchApprovalsResponse): boolean {
    if (this.#isAnew !== undefined) return false;
    const [hasApprovals, hasToken] = [approvals.length > 0, resumeToken !== ""];
    if (this.#requested === "") this.#isAnew = true;
    else if (!hasApprovals && !hasToken) this.#isUnknown = true;
    else this.#isAnew = hasApprovals ? !hasToken : this.#isUnknown;
    return this.#isAnew !== undefined;
  }
}
