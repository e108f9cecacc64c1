export * from "../gen/reeve/tool/v1/workspace_pb.ts";
