export * from "../gen/reeve/tool/v1/tool_pb.ts";
