import type { ServiceImpl } from "@connectrpc/connect";
import type { ReceiptService } from "@reeve/contracts/receipt";
import { principalOf } from "@reeve/platform/rpc/principal";
import { publicKeyPem } from "@reeve/run/receipts/receipt-keys";
import type { GatewayPorts } from "../app/gateway-ports.ts";
import { getReceipt } from "../app/receipts/get-receipt.ts";
import { runKeyOf } from "../app/read-run.ts";
import type { ReceiptKeys } from "../receipts/open-receipt-keys.ts";

/** Returns the handlers of ReceiptService. */
export function receiptService(
  ports: Pick<GatewayPorts, "logBatches"> & { receiptKeys(): ReceiptKeys },
): ServiceImpl<typeof ReceiptService> {
  return {
    getReceipt: async (request, context) => {
      const key = runKeyOf(principalOf(context).tenant, request.runId);
      return { envelope: await getReceipt(ports, key, request, context.signal) };
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
