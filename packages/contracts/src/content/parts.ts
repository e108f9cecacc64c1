export * from "../../gen/reeve/content/v1/content_pb.ts";
