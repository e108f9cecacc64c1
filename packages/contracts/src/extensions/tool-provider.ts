export * from "../../gen/reeve/tool/v1/tool_provider_pb.ts";
