export * from "../../gen/reeve/workflow/v1/node_type_pb.ts";
export * from "../../gen/reeve/workflow/v1/workflow_pb.ts";
export * from "../../gen/reeve/workflow/v1/workflow_service_pb.ts";
