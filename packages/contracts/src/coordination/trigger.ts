export * from "../../gen/reeve/trigger/v1/trigger_pb.ts";
export * from "../../gen/reeve/trigger/v1/trigger_service_pb.ts";
