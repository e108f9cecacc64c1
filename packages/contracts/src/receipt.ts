export * from "../gen/reeve/receipt/v1/call_receipt_pb.ts";
export * from "../gen/reeve/receipt/v1/receipt_service_pb.ts";
