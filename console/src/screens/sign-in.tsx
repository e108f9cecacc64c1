import { useState } from "react";
import { signIn } from "../api/session.ts";
import { useSession } from "../api/use-session.ts";

/** Asks for a token. It is kept in this tab only, and sent to this server only. */
export function SignIn() {
  const { problem } = useSession();
  const [token, setToken] = useState("");
  const onSubmit = (event: { preventDefault(): void }) => {
    event.preventDefault();
    if (token.trim() !== "") signIn(token.trim());
  };
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
        <button type="submit" className="button primary" disabled={token.trim() === ""}>
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
