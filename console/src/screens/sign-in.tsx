import { useEffect, useState } from "react";
import { signIn } from "../api/session.ts";
import { useSession } from "../api/use-session.ts";
import { ProviderButton } from "../sign-in/provider-button.tsx";
import type { SignInOffer } from "../sign-in/sign-in-settings.ts";
import { readSignInSettings } from "../sign-in/sign-in-settings.ts";
import { useLeaving } from "../ui/use-leaving.ts";

/**
 * Asks who the person is: the provider of the deployment does, if it has one, or the person enters a token. The token is kept in this tab
 * only, and sent to this server only.
 */
export function SignIn() {
  const { problem } = useSession();
  const { offer: settings, retry } = useSignInOffer();
  const [token, setToken] = useState("");
  const onSubmit = (event: { preventDefault(): void }) => {
    event.preventDefault();
    if (token.trim() !== "") signIn(token.trim());
  };
  // Shown when it is known what it asks, so that nothing moves.
  if (settings === undefined) return <main className="sign-in" aria-busy="true" />;
  return (
    <main className="sign-in">
      <form className="sign-in-card" onSubmit={onSubmit}>
        <img src="/favicon.svg" alt="" width="40" height="40" />
        <h1>Sign in to Reeve</h1>
        {problem !== undefined && (
          <p className="problem-line" role="alert">
            {problem}
          </p>
        )}
        {settings === "unreachable" ? (
          <>
            <p className="problem-line" role="alert">
              The server cannot be reached, or does not work. It is not known how people sign in.
            </p>
            <button type="button" className="button primary" onClick={retry}>
              Try again
            </button>
          </>
        ) : (
          settings !== "none" && (
            <>
              <ProviderButton settings={settings} />
              <p className="muted">or with a token of an operator:</p>
            </>
          )
        )}
        <label className="field">
          <span>Token</span>
          <input
            type="password"
            autoComplete="off"
            spellCheck={false}
            value={token}
            onChange={(event) => setToken(event.target.value)}
          />
        </label>
        <button
          type="submit"
          className={`button ${settings === "none" ? "primary" : ""}`}
          disabled={token.trim() === ""}
        >
          Sign in
        </button>
        <p className="hint">
          <code>npm start</code> prints an address that signs you in, and keeps the token in{" "}
          <code>.reeve/token</code>. Elsewhere, an operator issues tokens. The token stays in this
          tab and is forgotten when you close it.
        </p>
      </form>
    </main>
  );
}

interface SignInOffered {
  /** Undefined while it is read. */
  readonly offer: SignInOffer | undefined;
  readonly retry: () => void;
}

function useSignInOffer(): SignInOffered {
  const [offer, setOffer] = useState<SignInOffer>();
  const leaving = useLeaving();
  useEffect(() => {
    const signal = leaving();
    void (async () => {
      const read = await readSignInSettings(signal);
      if (!signal.aborted) setOffer(read);
    })();
  }, [leaving]);
  const retry = async () => {
    const read = await readSignInSettings(leaving());
    setOffer(read);
  };
  return { offer, retry: () => void retry() };
}
