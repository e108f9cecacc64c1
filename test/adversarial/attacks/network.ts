import type { Category } from "../support/attack.ts";
import { probe } from "../support/attack.ts";

export const network: Category = {
  title: "Network and sockets",
  attacks: [
    probe({
      id: "loopback",
      attempt:
        "connects to services of the host on its loopback, IPv4 and IPv6, and on all of its addresses",
      promise: "no connection succeeds",
      control: { where: "outside" },
      code: `
for number, (address, port) in enumerate(given["listeners"]):
    way(f"listener {number}", lambda: socket.create_connection((address, port), 3))`,
    }),
    probe({
      id: "beyond",
      attempt: "sends to the gateway, metadata services, name servers and the internet",
      promise: "none of them is reachable",
      control: {
        where: "none",
        why: "the neighborhood of a machine differs; the other addresses show that connections work",
      },
      code: `
def sent(address, port):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as udp:
        udp.connect((address, port)); udp.send(b"x")
for address in ["169.254.169.254", "fd00:ec2::254", "100.100.100.200", "10.0.0.1", "172.17.0.1", "192.168.0.1", "8.8.8.8", "2001:4860:4860::8888", "224.0.0.1"]:
    way(address, lambda: sent(address, 53))
way("name", lambda: socket.getaddrinfo("example.com", 80))
way("resolver", lambda: "nameserver" in open("/etc/resolv.conf").read() and sent(open("/etc/resolv.conf").read().split()[1], 53))`,
    }),
    probe({
      id: "interfaces",
      attempt: "looks for interfaces other than its loopback, and for routes",
      promise: "none is available",
      control: { differs: "machines without a network", where: "outside" },
      code: `
def others(): return any(line.split(":")[0].strip() != "lo" for line in open("/proc/net/dev").read().splitlines()[2:])
way("interfaces", others)
way("routes", lambda: len(open("/proc/net/route").read().splitlines()) > 1)`,
    }),
    probe({
      id: "abstract-sockets",
      attempt: "connects to an abstract Unix socket of the host, which no folder hides",
      promise: "no connection succeeds",
      control: { where: "outside" },
      code: `
def connected():
    with socket.socket(socket.AF_UNIX) as one: one.connect("\\0" + given["abstract"])
way("connect", connected)
way("in the table", lambda: given["abstract"] in open("/proc/net/unix").read())`,
    }),
    probe({
      id: "host-sockets",
      attempt: "looks for sockets of services: the container engine, dbus, a public socket in /tmp",
      promise: "they are not visible",
      control: { where: "outside", except: ["docker", "containerd", "dbus", "systemd", "engine"] },
      code: `
def connected(path):
    with socket.socket(socket.AF_UNIX) as one: one.connect(path)
way("a socket for everybody", lambda: connected(given["socket"]))
for name, path in [("docker", "/var/run/docker.sock"), ("containerd", "/run/containerd/containerd.sock"), ("dbus", "/run/dbus/system_bus_socket"), ("systemd", "/run/systemd/private"), ("engine", given["engine"])]:
    way(name, lambda: os.stat(path) and connected(path))`,
    }),
    probe({
      id: "netlink",
      attempt: "opens netlink sockets, which report network and processes",
      promise: "the socket family is not available",
      control: { differs: "kernels without it", where: "outside" },
      code: `
for name, number in [("route", 0), ("generic", 16), ("uevents", 15)]:
    way(name, lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, number))`,
    }),
    probe({
      id: "raw-sockets",
      attempt: "opens raw and packet sockets",
      promise: "refused",
      control: { where: "namespace" },
      code: `
way("packet", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
way("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
way("raw 6", lambda: socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6))`,
    }),
    probe({
      id: "other-families",
      attempt:
        "opens sockets of every other family: vsock to the hypervisor, crypto, Bluetooth, CAN, XDP, TIPC",
      promise: "only unix and inet are available, also with extra high bits in the number",
      control: {
        where: "none",
        why: "kernels support different families; netlink shows that the others are not refused by mistake",
      },
      code: `
def opened(family, kind): os.close(libc.socket(family, kind, 0)) if libc.socket(family, kind, 0) >= 0 else refuse(ctypes.get_errno())
for family in range(64):
    if family in (1, 2, 10): continue
    for kind in (1, 2, 3, 5):
        fd = libc.socket(family, kind, 0)
        found[f"{family}/{kind}"] = "harm" if fd >= 0 else "refused"
        if fd >= 0: os.close(fd)
libc.syscall.argtypes = None
number = {0: 41, 1: 198}[COLUMN]
way("bits above", lambda: refuse(ctypes.get_errno()) if libc.syscall(ctypes.c_long(number), ctypes.c_long(1 << 32 | 16), ctypes.c_long(3), ctypes.c_long(0)) < 0 else True)`,
    }),
    probe({
      id: "shared-memory",
      attempt: "attaches System V memory and message queues that the host shares with everybody",
      promise: "it sees only its own objects",
      control: { differs: "kernels without it", where: "outside" },
      code: `
def attached():
    number = libc.shmget(given["sharedKey"], 0, 0)
    return number >= 0 or refuse(ctypes.get_errno())
way("shmget", attached)
way("in the table", lambda: len(open("/proc/sysvipc/shm").read().splitlines()) > 1)`,
    }),
  ],
};
