import { useQuery } from "@connectrpc/connect-query";
import type { GetDeploymentResponse } from "@reeve/contracts/operations";
import { OperationsService } from "@reeve/contracts/operations";
import { problemOf } from "../../api/problem.ts";
import { ProblemView } from "../../ui/problem-view.tsx";
import { Ago } from "../../ui/times.tsx";
import { msOf } from "../../format/time.ts";
import { Hosts } from "./hosts.tsx";
import { Queues } from "./queues.tsx";
import { StoreView } from "./store-view.tsx";

/** What all tenants share: workers, toolhosts, queues, feeds, and the store. For the operators of the deployment. */
export function DeploymentView() {
  const { data, error, refetch } = useQuery(
    OperationsService.method.getDeployment,
    {},
    { refetchInterval: 5_000 },
  );
  if (error !== null && data === undefined) {
    return <ProblemView problem={problemOf(error)} onRetry={() => void refetch()} />;
  }
  if (data === undefined) {
    return (
      <p className="loading" role="status">
        Loading the deployment …
      </p>
    );
  }
  return <DeploymentParts deployment={data} />;
}

function DeploymentParts({ deployment }: { readonly deployment: GetDeploymentResponse }) {
  const { workers, toolhosts, queues, feeds, store, problems, readAt } = deployment;
  return (
    <>
      {problems.map((problem) => (
        <p key={problem} className="note warn">
          {problem}
        </p>
      ))}
      <h2 className="section">Workers and toolhosts</h2>
      <Hosts workers={workers} toolhosts={toolhosts} />
      <h2 className="section">Queues and feeds</h2>
      <Queues queues={queues} feeds={feeds} />
      {store !== undefined && (
        <>
          <h2 className="section">Store</h2>
          <StoreView store={store} />
        </>
      )}
      <p className="hint">
        Of all tenants, read <Ago ms={msOf(readAt)} />. Links lead to the runs of your tenant.
      </p>
    </>
  );
}
