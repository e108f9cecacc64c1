export * from "../../gen/reeve/access/v1/role_pb.ts";
export * from "../../gen/reeve/access/v1/role_option_pb.ts";
