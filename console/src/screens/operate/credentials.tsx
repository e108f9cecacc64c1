import { useQuery } from "@connectrpc/connect-query";
import { CredentialSource, OperationsService } from "@reeve/contracts/operations";
import { Link } from "@tanstack/react-router";
import { roleName } from "../../access/use-access.ts";
import { problemOf } from "../../api/problem.ts";
import { msOf } from "../../format/time.ts";
import { ProblemView } from "../../ui/problem-view.tsx";
import { Ago } from "../../ui/times.tsx";
import { PlainTable } from "./plain-table.tsx";

const sources: Readonly<Record<CredentialSource, string>> = {
  [CredentialSource.UNSPECIFIED]: "unknown",
  [CredentialSource.SETTING]: "token of the settings",
  [CredentialSource.TOKEN_FILE]: "token of the file",
  [CredentialSource.CERTIFICATE]: "certificate",
};

/** The tokens and certificates of the tenant, with their roles. Operators only. */
export function Credentials() {
  const { data, error, refetch } = useQuery(OperationsService.method.listCredentials, {});
  if (error !== null) {
    return <ProblemView problem={problemOf(error)} onRetry={() => void refetch()} />;
  }
  if (data === undefined) {
    return (
      <p className="loading" role="status">
        Loading credentials …
      </p>
    );
  }
  return (
    <>
      <PlainTable
        label="Tokens and certificates"
        columns={["Who", "Roles", "With", "Id", "Expires", "What they did"]}
      >
        {data.credentials.map((each) => (
          <tr key={`${each.subject} ${each.source} ${each.credentialId}${each.certificateName}`}>
            <td>{each.subject}</td>
            <td className="wrap">{each.roles.map(roleName).join(", ")}</td>
            <td>{sources[each.source] ?? sources[CredentialSource.UNSPECIFIED]}</td>
            <td className="mono">{each.credentialId || each.certificateName || "too short"}</td>
            <td>{each.expiresAt === undefined ? "never" : <Ago ms={msOf(each.expiresAt)} />}</td>
            <td>
              <Link to="/audit" search={{ subject: each.subject }}>
                Audit
              </Link>
            </td>
          </tr>
        ))}
      </PlainTable>
      {data.acceptsIdentityProvider && (
        <p className="hint">
          People also sign in with the identity provider, which has their roles.
        </p>
      )}
    </>
  );
}
