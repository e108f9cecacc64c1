import { Link } from "@tanstack/react-router";
import { AuditService } from "@reeve/contracts/audit";
import { NotificationService } from "@reeve/contracts/notification";
import { OperationsService } from "@reeve/contracts/operations";
import { roleName, useAccess } from "../../access/use-access.ts";
import { Disclosure } from "../../ui/disclosure.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { Credentials } from "./credentials.tsx";
import { DeadNotifications } from "./dead-notifications.tsx";
import { DeploymentView } from "./deployment-view.tsx";
import { ModelActivity } from "./model-activity.tsx";
import { OpenWork } from "./open-work.tsx";
import { Quotas } from "./quotas.tsx";
import { ToolPools } from "./tool-pools.tsx";
import "../../styles/operate.css";

/** What waits, what the deployment does and offers, and what went wrong outside of runs. */
export function OperateScreen() {
  const { caller, whyNot } = useAccess();
  const isOperator =
    caller !== undefined && whyNot(OperationsService.method.listCredentials) === undefined;
  const operatesAll = caller?.operatesDeployment === true;
  return (
    <>
      <PageHead title="Operate">
        <Link to="/models">Models</Link>
        {whyNot(AuditService.method.listAuditEvents) === undefined && (
          <Link to="/audit">Audit</Link>
        )}
      </PageHead>
      <OpenWork />
      <h2 className="section">Model calls of the last hour</h2>
      <ModelActivity mayShowAll={operatesAll} />
      {operatesAll && <DeploymentView />}
      {isOperator && !operatesAll && (
        <p className="hint">
          Workers, queues, and the store belong to all tenants. Operators of the tenant that the
          gateway's setting REEVE_AUDIT_TENANT names see them.
        </p>
      )}
      <h2 className="section">Quotas</h2>
      <Quotas />
      <h2 className="section">Tools by pool</h2>
      <ToolPools />
      {isOperator && (
        <>
          <h2 className="section">Tokens and roles</h2>
          <Disclosure summary="Those that this gateway accepts for your tenant">
            <Credentials />
          </Disclosure>
        </>
      )}
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
