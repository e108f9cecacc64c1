export * from "../../gen/reeve/knowledge/v1/knowledge_pb.ts";
