import { SpanStatusCode } from "@opentelemetry/api";
import { InMemorySpanExporter, TracerProvider } from "@opentelemetry/sdk-trace";
import { expect, test } from "vitest";
import { RedactingProcessor } from "./redacting-processor.ts";
import { processRedaction } from "./redaction.ts";

test("exports spans without secrets in attributes, events, and the status", async () => {
  const secret = "canary-of-the-spans";
  processRedaction.add(secret);
  const exporter = new InMemorySpanExporter();
  const processor = new RedactingProcessor({ exporter });
  const provider = new TracerProvider({ spanProcessors: [processor] });
  const span = provider.getTracer("test").startSpan("execute_tool");
  span.setAttribute("result", `found ${secret}`).setAttribute("parts", [secret, "tea"]);
  span.setAttribute("rounds", 3);
  span.recordException(new Error(`refused ${secret}`));
  span.setStatus({ code: SpanStatusCode.ERROR, message: `status ${secret}` });
  span.end();
  await provider.forceFlush();
  const [exported] = exporter.getFinishedSpans();
  expect(exported?.attributes).toEqual({
    result: "found [redacted]",
    parts: ["[redacted]", "tea"],
    rounds: 3,
  });
  expect(exported?.status.message).toBe("status [redacted]");
  expect(exported?.events[0]?.attributes).toMatchObject({
    "exception.message": "refused [redacted]",
  });
  expect(JSON.stringify(exported?.events)).not.toContain(secret);
});
