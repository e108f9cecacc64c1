import { ErrorReason } from "@reeve/contracts/error";
import { OnBusy } from "@reeve/contracts/run";
import { Role } from "@reeve/contracts/thread";
import type { RefusedStart } from "./backend.ts";

/** The maximum size of an input and a message, in bytes. */
export const maxTextBytes = 262_144;

const { INVALID_AGENT, INVALID_REQUEST, UNSUPPORTED_CAPABILITY, UNSUPPORTED_REMOTE_BACKEND } =
  ErrorReason;

/** Runs that no backend starts. */
export const refusedStarts: readonly RefusedStart[] = [
  {
    name: "an agent with several mistakes",
    spec: { id: "No Id", name: "", model: "openai:", temperature: 9 },
    reason: INVALID_AGENT,
    violations: [
      "id STRING_PATTERN",
      "name STRING_MIN_LEN",
      "temperature DOUBLE_GTE_LTE",
      "model MODEL_NOT_FOUND",
    ],
  },
  {
    name: "an agent at an endpoint, for which this version has no backend",
    spec: { endpoint: { url: "https://other.example", protocol: "a2a" } },
    reason: UNSUPPORTED_REMOTE_BACKEND,
    violations: ["endpoint.protocol UNSUPPORTED_REMOTE_BACKEND"],
  },
  {
    name: "an agent with too many tools that need an approval",
    spec: { hitlTools: Array.from({ length: 1_001 }, (_, n) => `t${n}`) },
    reason: INVALID_AGENT,
    violations: ["hitl_tools TOO_MANY_ENTRIES"],
  },
  {
    name: "an empty input",
    input: "",
    reason: INVALID_REQUEST,
    violations: ["input STRING_MIN_LEN"],
  },
  {
    name: "an input that is too large",
    input: "x".repeat(maxTextBytes + 1),
    reason: INVALID_REQUEST,
    violations: ["input STRING_MAX_BYTES"],
  },
  {
    name: "a conversation that is too large",
    created: { messages: [{ role: Role.USER, text: "x".repeat(maxTextBytes - 1) }] },
    reason: INVALID_REQUEST,
    violations: ["messages TOO_LARGE"],
  },
  {
    name: "a message without an author, and too many labels",
    created: {
      messages: [{ text: "x" }],
      labels: Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`l${n}`, ""])),
    },
    reason: INVALID_REQUEST,
    violations: ["messages[0].role ENUM_NOT_IN", "labels MAP_MAX_PAIRS"],
  },
  {
    name: "a label that is too long",
    created: { labels: { a: "x".repeat(1_025) } },
    reason: INVALID_REQUEST,
    violations: [`labels["a"] STRING_MAX_BYTES`],
  },
  {
    name: "what to do on a busy thread, without a thread",
    created: { onBusy: OnBusy.QUEUE },
    reason: INVALID_REQUEST,
    violations: ["on_busy CONTRADICTION"],
  },
  {
    name: "an earlier conversation of a workflow",
    spec: { workflow: { nodes: [{ id: "in", type: "input" }] } },
    created: { messages: [{ role: Role.USER, text: "x" }] },
    reason: UNSUPPORTED_CAPABILITY,
    violations: ["messages UNSUPPORTED_CAPABILITY"],
  },
  {
    name: "media that nothing generates",
    created: { mediaGeneration: { mode: "image" } },
    reason: UNSUPPORTED_CAPABILITY,
    violations: ["media_generation.mode UNSUPPORTED_CAPABILITY"],
  },
  {
    name: "an executor that does not exist",
    created: { executor: "cloud" },
    reason: UNSUPPORTED_CAPABILITY,
    violations: ["executor UNSUPPORTED_CAPABILITY"],
  },
];
