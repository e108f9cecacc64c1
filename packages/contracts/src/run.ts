export * from "../gen/reeve/run/v1/run_event_pb.ts";
export * from "../gen/reeve/run/v1/run_service_pb.ts";
