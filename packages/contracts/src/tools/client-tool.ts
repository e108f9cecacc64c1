export * from "../../gen/reeve/tool/v1/client_tool_pb.ts";
export * from "../../gen/reeve/tool/v1/client_tool_service_pb.ts";
