export * from "../../gen/reeve/operations/v1/operations_service_pb.ts";
