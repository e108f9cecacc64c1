import { useQuery } from "@connectrpc/connect-query";
import type { ModelSpec } from "@reeve/contracts/agent";
import { AgentService } from "@reeve/contracts/agent";
import { problemOf } from "../../api/problem.ts";
import { formatCount, formatDollars } from "../../format/amounts.ts";
import { Empty } from "../../ui/empty.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";

/** The models that agents may name, with their prices, and the providers that serve them. */
export function ModelsScreen() {
  const { data, error, refetch, isPending } = useQuery(AgentService.method.listModels, {});
  return (
    <>
      <PageHead title="Models" />
      {error !== null && <ProblemView problem={problemOf(error)} onRetry={() => void refetch()} />}
      {isPending && (
        <p className="loading" role="status">
          Loading models …
        </p>
      )}
      {data !== undefined && data.models.length === 0 && (
        <Empty title="No model is registered">
          Set <code>OPENAI_API_KEY</code> or <code>ANTHROPIC_API_KEY</code> for the runtime. An
          agent may also name a model of a provider below as <code>provider:model</code>.
        </Empty>
      )}
      {data !== undefined && data.models.length > 0 && <Models models={data.models} />}
      {data !== undefined && data.providers.length > 0 && (
        <>
          <h2 className="section">Providers</h2>
          <div className="table-box">
            <table className="table">
              <thead>
                <tr>
                  <th scope="col">Name</th>
                  <th scope="col">Capabilities</th>
                  <th scope="col">Models</th>
                </tr>
              </thead>
              <tbody>
                {data.providers.map(({ name, capabilities, scripted, upstreamNames }) => (
                  <tr key={name}>
                    <td>
                      {name} {scripted && <span className="label">scripted</span>}
                    </td>
                    <td>
                      {[
                        capabilities?.tools && "tools",
                        capabilities?.parallelToolCalls && "parallel calls",
                        capabilities?.reasoning && "reasoning",
                      ]
                        .filter((each) => each !== false && each !== undefined)
                        .join(", ") || "–"}
                    </td>
                    <td className="wrap mono">{upstreamNames.join(", ") || "any name"}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </>
  );
}

function Models({ models }: { readonly models: readonly ModelSpec[] }) {
  return (
    <div className="table-box">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Model</th>
            <th scope="col">Provider</th>
            <th scope="col" className="number">
              Context
            </th>
            <th scope="col" className="number">
              Max output
            </th>
            <th scope="col" className="number">
              Input, per million tokens
            </th>
            <th scope="col" className="number">
              Output
            </th>
          </tr>
        </thead>
        <tbody>
          {models.map((model) => (
            <tr key={model.id}>
              <td>
                {model.id}
                <span className="sub mono">{model.upstreamName}</span>
              </td>
              <td>{model.provider}</td>
              <td className="number">{countOrUnknown(model.contextWindow)}</td>
              <td className="number">{countOrUnknown(model.maxOutputTokens)}</td>
              <td className="number">{formatDollars(model.pricing?.inputUsdPerMillion)}</td>
              <td className="number">{formatDollars(model.pricing?.outputUsdPerMillion)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function countOrUnknown(count: number): string {
  return count === 0 ? "unknown" : formatCount(count);
}
