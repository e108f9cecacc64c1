export * from "../../gen/reeve/bus/v1/tenant_data_key_pb.ts";
