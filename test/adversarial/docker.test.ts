import { testEngine } from "@reeve/sandbox/test/support/docker-engine";
import { attackSuite } from "./support/attack-suite.ts";

const engine = await testEngine();

attackSuite("docker", "why" in engine ? engine : { ...engine, bounds: engine.report.bounds });
