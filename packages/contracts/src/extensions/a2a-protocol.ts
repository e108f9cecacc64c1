export * from "../../gen/lf/a2a/v1/a2a_pb.ts";
