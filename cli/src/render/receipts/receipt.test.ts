import { create } from "@bufbuild/protobuf";
import { CallReceiptSchema } from "@reeve/contracts/receipt";
import { RunStatus } from "@reeve/contracts/run";
import { ToolStatus } from "@reeve/contracts/tool";
import { expect, test } from "vitest";
import { renderReceipt } from "./receipt.ts";

test("says that a call was approved by break-glass", () => {
  const decision = { approved: true, decidedBy: "lea", reason: "INC-42", breakGlass: {} };
  const receipt = create(CallReceiptSchema, { decisions: [{ decision, approvalId: "run_1-2-0" }] });
  expect(renderReceipt(receipt)).toContain(
    "decided    approved by lea, by break-glass, at an unknown time, run_1-2-0: INC-42",
  );
});

test("says that the outcome of a call is not known if its run ended before", () => {
  const receipt = create(CallReceiptSchema, {
    call: { tool: "pay", source: "mcp:bank" },
    starts: [{ approvalId: "run_1-2-0" }],
    end: { status: RunStatus.CANCELLED },
  });
  const lines = renderReceipt(receipt);
  expect(lines).toContain("executed   handed out at an unknown time");
  expect(lines).toContain(
    "result     not known: the run ended before, with the status cancelled, at an unknown time",
  );
  const never = renderReceipt({ ...receipt, starts: [] });
  expect(never).toContain(
    "result     none: the run ended before, with the status cancelled, at an unknown time",
  );
});

test("says that no toolhost reported the start of a call that was refused when it was handed out", () => {
  const receipt = create(CallReceiptSchema, {
    call: { tool: "pay", source: "mcp:bank" },
    starts: [{}],
    result: { status: ToolStatus.ERROR },
  });
  expect(renderReceipt(receipt)).toContain(
    "executed   handed out at an unknown time, but no toolhost reported that it began",
  );
});
