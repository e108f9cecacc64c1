import { createContextValues } from "@connectrpc/connect";
import type { AuditEvent } from "@reeve/contracts/audit";
import { AuditCredential_Kind } from "@reeve/contracts/audit";
import { RunService } from "@reeve/contracts/run";
import { systemClock } from "@reeve/platform/async/clock";
import { refusedCertificate, setPeerOf } from "@reeve/platform/rpc/credentials/client-certificates";
import { expect, test } from "vitest";
import { auditRefusals } from "./audit-refusals.ts";
import { RepeatedRefusals } from "./repeated-refusals.ts";

test("the event of a refused certificate identifies the certificate", async () => {
  const events: AuditEvent[] = [];
  const refusals = () => new RepeatedRefusals(10, (event) => void events.push(event));
  const authenticate = auditRefusals(
    () => {
      throw refusedCertificate("it has expired");
    },
    {
      recorder: { note: () => undefined },
      strangers: refusals(),
      denied: refusals(),
      clock: systemClock,
    },
  );
  const values = createContextValues();
  setPeerOf(values, {
    id: "0123456789ab",
    names: ["CN=ci"],
    problem: "CERT_HAS_EXPIRED",
    expiresAt: 0,
    isTrusted: () => false,
  });
  const call = {
    service: RunService,
    method: RunService.method.listRuns,
    requestHeader: new Headers(),
    values,
  };
  await expect(authenticate(call)).rejects.toThrow("it has expired");
  const credential = { kind: AuditCredential_Kind.CERTIFICATE, id: "0123456789ab" };
  expect(events).toMatchObject([{ action: "sign_in", reason: "REFUSED", credential }]);
});
