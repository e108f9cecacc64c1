import { useEffect, useState } from "react";
import { signIn } from "../api/session.ts";
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
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    void (async () => {
      const found = await finish(begun, address, signal);
      if (signal.aborted) return;
      if (found === undefined) onEnd(begun?.returnTo ?? "/");
      else setProblem(found);
    })();
    return () => leaving.abort();
  }, [address, begun, onEnd]);
  return (
    <main className="sign-in">
      <div className="sign-in-card">
        <img src="/favicon.svg" alt="" width="40" height="40" />
        <h1>{problem === undefined ? "Signing in …" : "You are not signed in"}</h1>
        {problem !== undefined && (
          <>
            <p className="problem-line" role="alert">
              {problem}
            </p>
            <button
              type="button"
              className="button primary"
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

/** Signs in. Returns why it did not. */
async function finish(
  begun: BegunSignIn | undefined,
  address: URL,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (begun === undefined) {
    return "This sign-in was not begun in this tab, or it was finished already. Begin it again.";
  }
  const settings = await readSignInSettings(signal);
  if (settings === undefined) return "The server no longer offers this sign-in. Begin it again.";
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
    return signInProblem(thrown, settings, address.origin);
  }
}
