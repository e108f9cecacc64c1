import type { Category } from "../support/attack.ts";
import { probe } from "../support/attack.ts";

export const signals: Category = {
  title: "Signals",
  attacks: [
    probe({
      id: "signals-to-the-agent",
      attempt:
        "sends the agent every signal, including KILL, STOP and real-time ones, with all calls that send one",
      promise: "it continues to work",
      control: { where: "outside" },
      code: `
def ended(send):
    one = first()
    for number in range(1, 65):
        try: send(one, number)
        except OSError: pass
    for _ in range(20):
        if state_of(one) in "TZX": return True
        time.sleep(0.01)
    return False
def queued(pid, number):
    process = call("pidfd_open", pid, 0)
    try: call("pidfd_send_signal", process, number, 0, 0)
    finally: os.close(process)
way("kill", lambda: ended(os.kill))
way("pidfd", lambda: ended(queued))
way("STOP again and again", lambda: ended(lambda pid, _: os.kill(pid, signal.SIGSTOP)))`,
    }),
  ],
};
