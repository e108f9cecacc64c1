export * from "../gen/reeve/agent/v1/agent_spec_pb.ts";
export * from "../gen/reeve/agent/v1/model_spec_pb.ts";
export * from "../gen/reeve/agent/v1/agent_service_pb.ts";
export * from "../gen/reeve/agent/v1/resolution_plan_pb.ts";
export * from "../gen/reeve/agent/v1/skill_pb.ts";
export * from "../gen/reeve/agent/v1/offered_plugin_pb.ts";
export * from "../gen/reeve/agent/v1/model_registry_pb.ts";
export * from "../gen/reeve/agent/v1/model_service_pb.ts";
