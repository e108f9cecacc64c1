import { useEffect, useState } from "react";
import { signIn } from "../api/session.ts";
import { useLeaving } from "../ui/use-leaving.ts";
import type { BegunSignIn } from "./begun-sign-in.ts";
import { takeSignIn } from "./begun-sign-in.ts";
import { readSignInSettings } from "./sign-in-settings.ts";

interface ReturnedSignInProps {
  /** The address with which the provider led back. It contains the code. */
  readonly address: URL;
  /** Goes on with the screen that was asked for, or with the sign-in. */
  readonly onEnd: (returnTo: string) => void;
}

/** Finishes the sign-in with the provider, after it has led back to this page. */
export function ReturnedSignIn({ address, onEnd }: ReturnedSignInProps) {
  const [begun] = useState(() => takeSignIn(sessionStorage));
  const [problem, setProblem] = useState<Problem>();
  const leaving = useLeaving();
  useEffect(() => {
    const signal = leaving();
    void (async () => {
      const found = await finish(begun, address, signal);
      if (signal.aborted) return;
      if (found === undefined) onEnd(begun?.returnTo ?? "/");
      else setProblem(found);
    })();
  }, [address, begun, leaving, onEnd]);
  const retry = async () => {
    setProblem(undefined);
    const signal = leaving();
    const found = await finish(begun, address, signal);
    if (signal.aborted) return;
    if (found === undefined) onEnd(begun?.returnTo ?? "/");
    else setProblem(found);
  };
  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <img src="/favicon.svg" alt="" width="40" height="40" />
        <h1>{problem === undefined ? "Signing in …" : "You are not signed in"}</h1>
        {problem !== undefined && (
          <>
            <p className="problem-line" role="alert">
              {problem.text}
            </p>
            {problem.mayRetry && (
              <button type="button" className="button primary" onClick={() => void retry()}>
                Try again
              </button>
            )}
            <button
              type="button"
              className={`button ${problem.mayRetry ? "" : "primary"}`}
              onClick={() => onEnd(begun?.returnTo ?? "/")}
            >
              Back to the sign-in
            </button>
          </>
        )}
      </div>
    </main>
  );
}

/** Why a sign-in was not finished. */
interface Problem {
  readonly text: string;
  /** Nothing was sent to the provider yet. */
  readonly mayRetry: boolean;
}

/** Signs in. Returns why it did not. */
async function finish(
  begun: BegunSignIn | undefined,
  address: URL,
  signal: AbortSignal,
): Promise<Problem | undefined> {
  if (begun === undefined) {
    return final(
      "This sign-in was not begun in this tab, or it was finished already. Begin it again.",
    );
  }
  const settings = await readSignInSettings(signal);
  if (settings === "unreachable") {
    return { text: "The server cannot be reached, or does not work.", mayRetry: true };
  }
  if (settings === "none")
    return final("The server no longer offers this sign-in. Begin it again.");
  if (settings.issuer !== begun.issuer || settings.clientId !== begun.clientId) {
    return final("The server has another provider by now. Begin the sign-in again.");
  }
  const { finishSignIn } = await import("./oidc.ts");
  try {
    const signedIn = await finishSignIn(settings, begun, address);
    if (signal.aborted) return undefined;
    signIn(signedIn.accessToken);
    const { keepRenewed } = await import("./renewal.ts");
    keepRenewed(settings, signedIn);
    return undefined;
  } catch (thrown) {
    const { signInProblem } = await import("./sign-in-problem.ts");
    return final(signInProblem(thrown, settings, address.origin));
  }
}

function final(text: string): Problem {
  return { text, mayRetry: false };
}
