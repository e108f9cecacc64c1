import { create } from "@bufbuild/protobuf";
import { CallReceiptSchema } from "@reeve/contracts/receipt";
import { expect, test } from "vitest";
import { renderReceipt } from "./receipt.ts";

test("says that a call was approved by break-glass", () => {
  const decision = { approved: true, decidedBy: "lea", reason: "INC-42", breakGlass: {} };
  const receipt = create(CallReceiptSchema, { decisions: [{ decision, approvalId: "run_1-2-0" }] });
  expect(renderReceipt(receipt)).toContain(
    "decided    approved by lea, by break-glass, at an unknown time, run_1-2-0: INC-42",
  );
});
