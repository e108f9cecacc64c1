export * from "../../gen/reeve/audit/v1/audit_option_pb.ts";
