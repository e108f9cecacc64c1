export * from "../../gen/reeve/workflow/v1/workflow_pb.ts";
