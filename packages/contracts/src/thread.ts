export * from "../gen/reeve/thread/v1/message_pb.ts";
export * from "../gen/reeve/thread/v1/execution_tree_pb.ts";
export * from "../gen/reeve/thread/v1/history_pb.ts";
export * from "../gen/reeve/thread/v1/thread_event_pb.ts";
export * from "../gen/reeve/thread/v1/thread_service_pb.ts";
export * from "../gen/reeve/thread/v1/thread_head_pb.ts";
