import { create } from "@bufbuild/protobuf";
import type { Envelope, ReceiptKey } from "#contracts/receipt";
import { EnvelopeSchema } from "#contracts/receipt";
import type { CallOptions } from "./call-options.ts";
import type { Requests } from "./requests.ts";

/** Options of a receipt. */
export interface ReceiptOptions extends CallOptions {
  /** Whether arguments, questions, and answers are left out. The digests of arguments and answers stay. Default: false. */
  readonly omitContent?: boolean;
}

/** Signed receipts of calls that people decided on. */
export class Receipts {
  readonly #requests: Requests;

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  /**
   * Returns the receipt of a call, as an envelope of DSSE. Throws `CALL_NOT_ENDED` and `CALL_NOT_DECIDED` for a call that has none,
   * and `RECEIPT_KEY_MISSING` if the deployment issues none.
   */
  async get(runId: string, callId: string, options: ReceiptOptions = {}): Promise<Envelope> {
    const { omitContent = false } = options;
    const { envelope } = await this.#requests.repeatable(
      ({ receipts }, call) => receipts.getReceipt({ runId, callId, omitContent }, call),
      options,
      // The server reads the log up to the end of the call.
      this.#requests.settings.transferTimeoutMs,
    );
    return envelope ?? create(EnvelopeSchema);
  }

  /** Lists the public keys that verify receipts: first the one that signs now, then earlier ones. */
  async keys(options: CallOptions = {}): Promise<readonly ReceiptKey[]> {
    const { keys } = await this.#requests.repeatable(
      ({ receipts }, call) => receipts.listReceiptKeys({}, call),
      options,
    );
    return keys;
  }
}
