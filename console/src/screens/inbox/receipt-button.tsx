import { toJson } from "@bufbuild/protobuf";
import { EnvelopeSchema } from "@reeve/contracts/receipt";
import { useState } from "react";
import { problemOf } from "../../api/problem.ts";
import { receipts } from "../../api/transport.ts";
import { saveAs } from "../../api/save-as.ts";

interface ReceiptButtonProps {
  readonly runId: string;
  readonly callId: string;
}

/** Saves the signed receipt of a call, or says why there is none. */
export function ReceiptButton({ runId, callId }: ReceiptButtonProps) {
  const [problem, setProblem] = useState("");
  const request = async () => {
    try {
      const { envelope } = await receipts.getReceipt({ runId, callId });
      if (envelope === undefined) return;
      const text = JSON.stringify(toJson(EnvelopeSchema, envelope));
      saveAs([new TextEncoder().encode(`${text}\n`)], `receipt-${callId}.json`);
      setProblem("");
    } catch (error) {
      setProblem(problemOf(error).message);
    }
  };
  return (
    <>
      <button
        type="button"
        className="button quiet"
        aria-label={`Save the receipt of ${callId}`}
        onClick={() => void request()}
      >
        Receipt
      </button>
      {problem !== "" && (
        <span className="sub" role="alert">
          {problem}
        </span>
      )}
    </>
  );
}
