import { create } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  GetDeploymentResponseSchema,
  ModelActivitySchema,
  QueueKind,
  QuotaLimitSchema,
} from "@reeve/contracts/operations";
import { expect, test } from "vitest";
import { plainStyle } from "../../test/support/memory-terminal.ts";
import { renderStatus } from "./status.ts";

const options = { style: plainStyle, nowMs: 90_000 };

test("renders workers, queues, models, and quotas as tables", () => {
  const deployment = create(GetDeploymentResponseSchema, {
    workers: [{ name: "runtime-1", slots: 4, active: 1, since: timestampFromMs(0) }],
    toolhosts: [{ name: "toolhost-1", pool: "default", slots: 8, isolation: "bubblewrap" }],
    queues: [{ kind: QueueKind.RUNS, waiting: 2n, oldestAge: durationFromMs(5_000) }],
    store: { bytes: 2_097_152n },
    problems: ["feeds: the store did not answer"],
  });
  const models = [
    create(ModelActivitySchema, {
      provider: "openai",
      model: "large",
      calls: 10,
      failures: 1,
      costUsd: 0.5,
      medianDuration: durationFromMs(1_000),
      failedRunIds: ["run_1"],
    }),
  ];
  const quotas = [create(QuotaLimitSchema, { quota: "all", limit: "open_runs", max: 5, used: 1 })];
  expect(renderStatus({ deployment, models, quotas }, options)).toBe(
    [
      "feeds: the store did not answer",
      "",
      "WORKER     STATE  RUNS  UP FOR",
      "runtime-1  ready  1/4   1 min 30 s",
      "",
      "TOOLHOST    POOL     STATE  CALLS  ISOLATION   WORKSPACES  WARM  SPARE",
      "toolhost-1  default  ready  0/8    bubblewrap  0           0     0",
      "",
      "QUEUE  WAITING  TAKEN  REDELIVERED  OLDEST",
      "runs   2        0      0            5.0 s",
      "",
      "store 2.0 MiB",
      "",
      "MODEL         CALLS  FAILED  HALF WITHIN  95% WITHIN  COST  FAILED LAST",
      "openai:large  10     1       1.0 s        longer      $0.5  run_1",
      "",
      "QUOTA  LIMIT      USED  MAX",
      "all    open_runs  1     5",
      "",
    ].join("\n"),
  );
});

test("says that no worker runs, and that no model was called", () => {
  const deployment = create(GetDeploymentResponseSchema);
  const text = renderStatus({ deployment, models: [], quotas: [] }, options);
  expect(text).toContain("no worker has reported itself");
  expect(text).toContain("no model was called in the last hour");
});
