/** Runs agents in this process: the same loop, events, and ends as in a deployment, without a server. */
// The first, so that it runs before all others.
import "./node-version.ts";
export type { AgentSpec } from "@reeve/contracts/agent";
export { ApprovalState } from "@reeve/contracts/approval";
export type { Run, RunEvent } from "@reeve/contracts/run";
export { RunStatus } from "@reeve/contracts/run";
export type { Tool } from "@reeve/calls/ports/tool";
export type { ModelProvider } from "@reeve/engine/ports/model-provider";
export { Failure } from "@reeve/platform/failure";
export type { AgentSource } from "./discover-agents.ts";
export type { AgentInit } from "./agent-init.ts";
export type { Decide, LocalDecision } from "./decide-approvals.ts";
export { openPlugins } from "./open-plugins.ts";
export type { ProviderOptions } from "./providers.ts";
export { anthropic, openai } from "./providers.ts";
export type { LocalRun, RunAgentOptions } from "./run-agent.ts";
export { runAgent } from "./run-agent.ts";
export type { Reeve, RunOptions } from "./reeve.ts";
export type { Skill } from "@reeve/agent/skills/skill";
export { readSkills } from "@reeve/models/skills/read-skills";
export { ReeveBuilder } from "./reeve-builder.ts";
export type { ToolOptions } from "./tool.ts";
export { tool } from "./tool.ts";
