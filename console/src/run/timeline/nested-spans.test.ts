import { expect, test } from "vitest";
import { nestedSpans } from "./nested-spans.ts";
import type { Span } from "../run-model.ts";

const span = (key: string, frameId: string): Span => ({
  key,
  frameId,
  kind: key.startsWith("subtask ") ? "subtask" : "model",
  label: key,
  depth: 0,
  attempt: 1,
  startMs: 0,
  endMs: 1,
  failed: false,
  detail: "",
  costUsd: 0,
  reservedUsd: 0,
});

test("shows what subtasks did below each of them, although they ran at the same time", () => {
  const spans = [
    span("model", ""),
    span("subtask a", ""),
    span("subtask b", ""),
    span("subtask a/1", "a"),
    span("in b", "b"),
    span("in a", "a"),
    span("in a/1", "a/1"),
    span("in a subtask without a span", "gone"),
    span("last", ""),
  ];
  expect(nestedSpans(spans).map(({ key }) => key)).toEqual([
    "model",
    "subtask a",
    "subtask a/1",
    "in a/1",
    "in a",
    "subtask b",
    "in b",
    "in a subtask without a span",
    "last",
  ]);
});
