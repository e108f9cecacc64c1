import { Link } from "@tanstack/react-router";
import { AuditService } from "@reeve/contracts/audit";
import { NotificationService } from "@reeve/contracts/notification";
import { roleName, useAccess } from "../../access/use-access.ts";
import { Disclosure } from "../../ui/disclosure.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { DeadNotifications } from "./dead-notifications.tsx";
import { OpenWork } from "./open-work.tsx";
import { ToolPools } from "./tool-pools.tsx";
import "../../styles/operate.css";

/** What waits, what the deployment offers, and what went wrong outside of runs. */
export function OperateScreen() {
  const { caller, whyNot } = useAccess();
  return (
    <>
      <PageHead title="Operate">
        <Link to="/models">Models</Link>
        {whyNot(AuditService.method.listAuditEvents) === undefined && (
          <Link to="/audit">Audit</Link>
        )}
      </PageHead>
      <OpenWork />
      <h2 className="section">Tools by pool</h2>
      <ToolPools />
      {whyNot(NotificationService.method.listDeadNotifications) === undefined && (
        <>
          <h2 className="section">Notifications</h2>
          <Disclosure summary="Those that were given up">
            <DeadNotifications />
          </Disclosure>
        </>
      )}
      <h2 className="section">Your credential</h2>
      {caller !== undefined && (
        <dl className="facts">
          <Fact name="Name">{caller.subject}</Fact>
          <Fact name="Tenant">{caller.tenant}</Fact>
          <Fact name="Roles">{caller.roles.map(roleName).join(", ")}</Fact>
          <Fact name="Groups">{caller.groups.join(", ") || "none"}</Fact>
        </dl>
      )}
      <p className="hint section">
        Workers, queues, and quotas of the whole deployment are metrics: services have them at{" "}
        <code>/metrics</code>, for all tenants together.
      </p>
    </>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
