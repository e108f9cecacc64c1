export * from "../gen/google/rpc/error_details_pb.ts";
