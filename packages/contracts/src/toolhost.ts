export * from "../gen/reeve/tool/v1/toolhost_pb.ts";
