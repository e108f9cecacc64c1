import { useMutation, useQuery } from "@connectrpc/connect-query";
import { PasskeyService } from "@reeve/contracts/passkey";
import { Permitted } from "../../access/permitted.tsx";
import { problemOf } from "../../api/problem.ts";
import { msOf } from "../../format/time.ts";
import { Empty } from "../../ui/empty.tsx";
import { PageHead } from "../../ui/page-head.tsx";
import { ProblemView } from "../../ui/problem-view.tsx";
import { Ago } from "../../ui/times.tsx";
import { RegisterPasskey } from "./register-passkey.tsx";
import "../../styles/passkeys.css";

/** The passkeys of the person, with which approvals are confirmed. */
export function PasskeysScreen() {
  const { data, error, refetch } = useQuery(PasskeyService.method.listPasskeys, {});
  const revoke = useMutation(PasskeyService.method.revokePasskey);
  const problem = error ?? revoke.error;
  return (
    <>
      <PageHead title="Passkeys" />
      <p className="passkeys-about">
        Some calls are approved only with a passkey. It confirms one decision of yours at a time.
      </p>
      {problem !== null && (
        <ProblemView problem={problemOf(problem)} onRetry={() => void refetch()} />
      )}
      {data !== undefined && data.passkeys.length === 0 && (
        <Empty title="You have no passkey">
          Ask an operator for an invitation: <code>reeve passkeys invite PERSON</code>.
        </Empty>
      )}
      {data !== undefined && data.passkeys.length > 0 && (
        <div className="table-box">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Registered</th>
                <th scope="col">Last used</th>
                <th scope="col">Actions</th>
              </tr>
            </thead>
            <tbody>
              {data.passkeys.map(({ credentialId, name, registeredAt, lastUsedAt }) => (
                <tr key={credentialId}>
                  <td>{name}</td>
                  <td>
                    <Ago ms={msOf(registeredAt)} />
                  </td>
                  <td>{lastUsedAt === undefined ? "never" : <Ago ms={msOf(lastUsedAt)} />}</td>
                  <td>
                    <button
                      type="button"
                      className="button danger"
                      disabled={revoke.isPending}
                      onClick={() =>
                        revoke.mutate({ credentialId }, { onSuccess: () => void refetch() })
                      }
                    >
                      Revoke {name}
                    </button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <h2 className="section">Register a passkey</h2>
      <Permitted method={PasskeyService.method.registerPasskey} action="Registering a passkey">
        <RegisterPasskey onRegistered={() => void refetch()} />
      </Permitted>
    </>
  );
}
