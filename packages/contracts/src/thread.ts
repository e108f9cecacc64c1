export * from "../gen/reeve/thread/v1/message_pb.ts";
