export * from "../gen/reeve/audit/v1/audit_pb.ts";
