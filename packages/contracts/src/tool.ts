export * from "../gen/reeve/tool/v1/tool_pb.ts";
export * from "../gen/reeve/tool/v1/workspace_pb.ts";
export * from "../gen/reeve/tool/v1/workspace_service_pb.ts";
