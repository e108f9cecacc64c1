import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Reeve } from "../../cli/src/client.ts";
import { openReeve } from "../../cli/src/client.ts";
import { applyAgent, readSpec } from "../../cli/src/apply-agent.ts";
import { uploadFile } from "../../cli/src/upload.ts";
import { PatientClient } from "../system/support/patient-client.ts";
import type { ComposeProject } from "./support/compose.ts";
import { composeUp, whyNoCompose } from "./support/compose.ts";
import { because, whySkipped } from "./support/engine.ts";
import { expectDone } from "./support/load.ts";
import { follow, quickstarts } from "./support/quickstarts.ts";

const examples = join(import.meta.dirname, "../../examples/csv-report");
/** A container, as `compose ps` tells of it. */
const container = z.object({
  Service: z.string(),
  Publishers: z.array(z.object({ URL: z.string(), PublishedPort: z.number() })).nullish(),
});
const never = new AbortController().signal;

const reason = whySkipped(whyNoCompose);

describe.skipIf(reason !== undefined)(`what compose.yaml brings up${because(reason)}`, () => {
  let project: ComposeProject;
  let reeve: Reeve;

  beforeAll(async () => {
    project = await composeUp();
    reeve = openReeve(project);
    await applyAgent(reeve, await readSpec(join(examples, "agent.yaml")), never);
  }, 300_000);

  afterAll(async () => {
    reeve[Symbol.dispose]();
    await project[Symbol.asyncDispose]();
  });

  test("an agent of the examples computes in a sandbox, and publishes what a person approves", async () => {
    const path = join(examples, "sales.csv");
    const { artifactId } = await uploadFile(reeve, { path, name: "data.csv" }, "", never);
    const files = [{ path: "data.csv", artifactId }];
    const gateways = () => [reeve];
    const client = new PatientClient({ name: "person", agentId: "csv-report", files, gateways });
    expectDone(await client.run());
  });

  // Requirement: OPS-6
  test("who has no token is refused, and the file names none", async () => {
    using stranger = openReeve({ url: project.url, token: undefined });
    await expect(stranger.agents.listAgents({})).rejects.toThrow(/unauthenticated/);
    expect(await project.compose("config")).not.toContain(project.token);
  });

  // Requirement: OPS-6
  test("nothing but the gateway is reached from outside, and it from this machine alone", async () => {
    const listed = (await project.compose("ps", "--format", "json")).trim().split("\n");
    const published = listed.flatMap((line) => {
      const { Service, Publishers } = container.parse(JSON.parse(line));
      const open = (Publishers ?? []).filter(({ PublishedPort: port }) => port > 0);
      return open.map(({ URL }) => [Service, URL]);
    });
    expect(published).toEqual([["gateway", "127.0.0.1"]]);
  });

  test.each(quickstarts)(
    "the quickstart with $name works as it is written",
    { timeout: 300_000 },
    async (quickstart) => {
      expect(await follow(quickstart, project)).toMatch(quickstart.prints);
    },
  );
});
