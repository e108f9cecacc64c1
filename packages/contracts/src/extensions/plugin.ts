export * from "../../gen/reeve/plugin/v1/plugin_pb.ts";
