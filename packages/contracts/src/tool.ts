export * from "../gen/reeve/tool/v1/client_tool_pb.ts";
export * from "../gen/reeve/tool/v1/client_tool_service_pb.ts";
export * from "../gen/reeve/tool/v1/tool_pb.ts";
export * from "../gen/reeve/tool/v1/workspace_pb.ts";
export * from "../gen/reeve/tool/v1/workspace_service_pb.ts";
