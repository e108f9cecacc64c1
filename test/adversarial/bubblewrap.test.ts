import { BubblewrapDriver } from "@reeve/sandbox/bubblewrap/driver";
import { attackSuite } from "./support/attack-suite.ts";
import { attackedIdentity } from "./support/identities.ts";

const driver = new BubblewrapDriver(attackedIdentity);
const report = await driver.probe(AbortSignal.timeout(60_000));

attackSuite(
  "bubblewrap",
  report.works ? { driver, bounds: report.bounds } : { why: report.reason },
);
