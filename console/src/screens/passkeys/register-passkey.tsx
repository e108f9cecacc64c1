import { useMutation } from "@connectrpc/connect-query";
import { PasskeyService } from "@reeve/contracts/passkey";
import { useState } from "react";
import { createPasskey } from "../../api/passkeys.ts";
import { problemOf } from "../../api/problem.ts";
import { ProblemView } from "../../ui/problem-view.tsx";

interface RegisterPasskeyProps {
  readonly onRegistered: () => void;
}

/** Registers a passkey of the person, with the invitation of an operator. */
export function RegisterPasskey({ onRegistered }: RegisterPasskeyProps) {
  const [invitation, setInvitation] = useState("");
  const [name, setName] = useState("");
  const [problem, setProblem] = useState<unknown>();
  const [isPending, setPending] = useState(false);
  const begin = useMutation(PasskeyService.method.beginPasskeyRegistration);
  const register = useMutation(PasskeyService.method.registerPasskey);
  const submit = async () => {
    setProblem(undefined);
    setPending(true);
    try {
      const { options } = await begin.mutateAsync({ invitation });
      const response = await createPasskey(options);
      await register.mutateAsync({ invitation, name, response });
      setInvitation("");
      setName("");
      onRegistered();
    } catch (error) {
      setProblem(error);
    } finally {
      setPending(false);
    }
  };
  return (
    <form
      className="passkey-form"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <label className="field">
        <span>Invitation</span>
        <input
          className="input"
          value={invitation}
          autoComplete="off"
          onChange={(event) => setInvitation(event.target.value.trim())}
        />
      </label>
      <label className="field">
        <span>Name, such as “Laptop”</span>
        <input
          className="input"
          value={name}
          maxLength={32}
          onChange={(event) => setName(event.target.value)}
        />
      </label>
      {problem !== undefined && <ProblemView problem={problemOf(problem)} />}
      <button
        type="submit"
        className="button primary"
        disabled={isPending || invitation === "" || name === ""}
      >
        Register
      </button>
    </form>
  );
}
