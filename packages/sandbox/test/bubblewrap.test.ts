import { BubblewrapDriver } from "../src/bubblewrap/driver.ts";
import { sandboxIdentity } from "../src/host/identity.ts";
import { sandboxContract } from "./support/contract/sandbox-contract.ts";

const identity = sandboxIdentity(64_017);
const driver = new BubblewrapDriver(identity);
const report = await driver.probe(AbortSignal.timeout(60_000));
const hidden = ["/etc/shadow", "/etc/passwd", "/root", "/home", "/var", "/run", "/sys"];

// Without bubblewrap, the tests are skipped with the reason in their title.
if (report.works)
  sandboxContract("bubblewrap", {
    driver,
    identity,
    bounds: report.bounds,
    inside: "/workspace",
    hidden,
  });
else sandboxContract("bubblewrap", undefined, ` (skipped: ${report.reason})`);
