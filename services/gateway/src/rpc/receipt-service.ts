import type { ServiceImpl } from "@connectrpc/connect";
import type { ReceiptService } from "@reeve/contracts/receipt";
import { principalOf } from "@reeve/platform/rpc/principal";
import { publicKeyPem } from "@reeve/run/receipts/receipt-keys";
import type { ReceiptPorts } from "../app/receipts/get-receipt.ts";
import { getReceipt } from "../app/receipts/get-receipt.ts";
import { runKeyOf } from "../app/read-run.ts";
import { limitWalks } from "../app/watch/start-watch.ts";

/** Returns the handlers of ReceiptService. */
export function receiptService(
  ports: Omit<ReceiptPorts, "walks">,
): ServiceImpl<typeof ReceiptService> {
  const walks = limitWalks();
  return {
    getReceipt: async (request, context) => {
      const key = runKeyOf(principalOf(context).tenant, request.runId);
      return { envelope: await getReceipt({ ...ports, walks }, key, request, context.signal) };
    },
    listReceiptKeys: () => {
      const { signing, verifying } = ports.receiptKeys();
      return {
        keys: verifying.map((key) => ({
          keyId: key.keyId,
          publicKeyPem: publicKeyPem(key),
          isSigning: key === signing,
        })),
      };
    },
  };
}
