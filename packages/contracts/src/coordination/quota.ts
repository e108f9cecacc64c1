export * from "../../gen/reeve/bus/v1/quota_pb.ts";
