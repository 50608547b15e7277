"""A peer in another language, written from docs/peer-protocol.md and docs/wire-formats.md alone.

It plays server and client of scenario `call`, and the server of `paced`, with codec raw over transport `unix`; everything else it refuses with an error message.
A word on its command line makes it cheat, from the fourth exchange on: "wrong" damages a byte of the reply, "stale" sends the reply before once more, "short" leaves its last byte out,
"skip" does not write the request's bytes anew, "idle" claims exchanges that never were. "stall" does not cheat: the server sleeps for 100 ms, once, a thousand exchanges after it was asked for its usage.
"""

import json
import os
import resource
import socket
import struct
import sys
import threading
import time

MAGIC, REQUEST, REPLY, FAULT = 0x31435049, 2, 3, 4
MASK = (1 << 64) - 1
CHEAT = sys.argv[1] if len(sys.argv) > 1 else ""
HONEST = 3 # exchanges before it cheats
STALL_SECONDS, STALL_AFTER = 0.1, 1000
output_lock = threading.Lock()
asked_for_usage = threading.Event()


class Refused(Exception):
    def __init__(self, status, reason):
        super().__init__(reason)
        self.status = status


def say(event, **fields):
    with output_lock:
        sys.stdout.write(json.dumps({"event": event, **fields}) + "\n")
        sys.stdout.flush()


def usage():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "cpu_ns": int((used.ru_utime + used.ru_stime) * 1e9),
        "voluntary_switches": used.ru_nvcsw,
        "involuntary_switches": used.ru_nivcsw,
        "minor_faults": used.ru_minflt,
        "major_faults": used.ru_majflt,
        "memory_bytes": used.ru_maxrss * 1024,
        "allocated_bytes": None,
        "collections": None,
    }


def generated(seed, length):
    """Outputs of splitmix64 as little-endian words, cut at the length."""
    state, words = seed, []
    for _ in range((length + 7) // 8):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
        words.append(z ^ z >> 31)
    return struct.pack(f"<{len(words)}Q", *words)[:length]


def stamped(payload, sequence):
    return struct.pack("<Q", sequence) + payload[8:] if len(payload) >= 8 else payload


def cheated(answer, before):
    if CHEAT == "wrong":
        return answer[:-1] + bytes([answer[-1] ^ 1])
    return before if CHEAT == "stale" else answer[:-1] if CHEAT == "short" else answer


def is_private(folder):
    try:
        found = os.stat(folder)
    except OSError:
        return False
    return found.st_uid == os.geteuid() and not found.st_mode & 0o022


def path_of(address):
    """Where the socket of an address stands: "Names on Linux"."""
    name = address.split("://", 1)[1].split("?", 1)[0]
    if name.startswith("/"):
        return name
    candidates = [os.environ.get("XDG_RUNTIME_DIR", ""), f"/run/user/{os.geteuid()}"]
    runtime = next((c for c in candidates if c.startswith("/") and is_private(c)), None)
    folder = f"{runtime}/ipc" if runtime else f"/tmp/ipc-{os.geteuid()}"
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return f"{folder}/unix-{name}"


def receive_exactly(connection, length):
    received = bytearray()
    while len(received) < length:
        chunk = connection.recv(length - len(received))
        if not chunk:
            if received:
                raise Refused("TRUNCATED", "the connection ended inside a frame")
            return None
        received += chunk
    return bytes(received)


def receive_frame(connection, kind):
    """(id, payload), or None when the peer has closed in order."""
    head = receive_exactly(connection, 16)
    if head is None:
        return None
    magic, length, got, number = struct.unpack("<IIII", head)
    if magic != MAGIC or got != kind:
        raise Refused("NOT_OUR_PROTOCOL", f"a frame of magic {magic:#x} and kind {got} came")
    payload = receive_exactly(connection, length) if length else b""
    if payload is None:
        raise Refused("TRUNCATED", "the connection ended inside a frame")
    return number, payload


def send_frame(connection, kind, number, payload):
    connection.sendall(struct.pack("<IIII", MAGIC, len(payload), kind, number) + payload)


def check_user(connection):
    _, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    if user != os.geteuid():
        raise Refused("NO_PERMISSION", f"the peer is user {user}")


def answer_questions():
    for line in sys.stdin:
        if json.loads(line).get("command") == "usage":
            say("usage", **usage())
            asked_for_usage.set()
    os._exit(0)


def serve(cell):
    workload = cell["workload"]
    expected = generated(cell["seed"], workload["request_bytes"])
    reply = generated(cell["seed"] + 1, workload["reply_bytes"])
    path = path_of(cell["address"])
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(path)
        try:
            os.chmod(path, 0o600)
            listener.listen(1)
            say("ready", address=cell["address"])
            questions = threading.Thread(target=answer_questions)
            questions.start()
            connection, _ = listener.accept()
        finally:
            os.unlink(path)
    check_user(connection)
    sequence, stall_at = 0, None
    while (frame := receive_frame(connection, REQUEST)) is not None:
        number, request = frame
        asked = struct.unpack_from("<Q", request)[0] if len(request) >= 8 else sequence + 1
        answer = stamped(reply, asked)
        if sequence == HONEST and CHEAT != "stall":
            answer = cheated(answer, stamped(reply, sequence))
        if CHEAT == "stall" and stall_at is None and asked_for_usage.is_set():
            stall_at = sequence + STALL_AFTER
        if sequence == stall_at:
            time.sleep(STALL_SECONDS)
        send_frame(connection, REPLY, number, answer)
        sequence += 1
        if asked != sequence or request != stamped(expected, sequence):
            raise Refused("WRONG_CONTENT", f"request {sequence} is not what it should be")
    say("served", operations=sequence)
    questions.join()


def call(connection, cell, sequence):
    """One checked exchange; its nanoseconds."""
    request = stamped(cell["request"], sequence)
    if CHEAT == "skip" and sequence > HONEST:
        request = request[:8] + bytes(len(request) - 8)
    start = time.perf_counter_ns()
    send_frame(connection, REQUEST, sequence, request)
    frame = receive_frame(connection, REPLY)
    took = time.perf_counter_ns() - start
    if frame is None:
        raise Refused("PEER_CLOSED", "the server closed the connection")
    if frame != (sequence, stamped(cell["reply"], sequence)):
        raise Refused("WRONG_CONTENT", f"reply {sequence} is not what it should be")
    return took


def drive(cell):
    workload = cell["workload"]
    cell["request"] = generated(cell["seed"], workload["request_bytes"])
    cell["reply"] = generated(cell["seed"] + 1, workload["reply_bytes"])
    start = time.perf_counter_ns()
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(path_of(cell["address"]))
    check_user(connection)
    call(connection, cell, 1)
    cold, sequence = time.perf_counter_ns() - start, 1
    end = time.monotonic() + cell["warmup_seconds"]
    while time.monotonic() < end:
        sequence += 1
        call(connection, cell, sequence)
    say("warm", operations=sequence, cold_ns=cold)
    if json.loads(sys.stdin.readline() or "{}").get("command") != "go":
        raise Refused("CLOSED", "standard input ended before the cell was done")
    before, samples = usage(), []
    begin = time.perf_counter_ns()
    end = begin + int((cell["seconds"] or 0) * 1e9)
    while len(samples) < cell["count"] if cell["count"] else time.perf_counter_ns() < end or not samples:
        sequence += 1
        samples.append(10 if CHEAT == "idle" else min(call(connection, cell, sequence), 0xFFFFFFFF))
    elapsed = time.perf_counter_ns() - begin
    after = usage()
    with open(cell["samples"], "wb") as file:
        file.write(struct.pack(f"<{len(samples)}I", *samples))
    moved = len(samples) * (workload["request_bytes"] + workload["reply_bytes"])
    say("measured", operations=len(samples), elapsed_ns=elapsed, bytes=moved, usage_before=before, usage_after=after)
    connection.close()


def main():
    say("environment", runtime=f"CPython {sys.version.split()[0]}", compiler=None, build="release", library=None)
    line = sys.stdin.readline()
    if not line:
        return
    cell = json.loads(line)
    if cell["cpu"] is not None:
        os.sched_setaffinity(0, {cell["cpu"]})
    known = (cell["scenario"] == "call" or cell["scenario"] == "paced" and cell["role"] == "server") and cell["codec"] == "raw" and cell["address"].startswith("unix://") and "text" not in cell["workload"]
    if not known:
        raise Refused("NOT_AVAILABLE", "this peer plays scenario call with codec raw over unix only")
    (serve if cell["role"] == "server" else drive)(cell)


try:
    main()
except Refused as refusal:
    say("failed", status=refusal.status, reason=str(refusal))
    os._exit(1)
except OSError as error:
    absent, left = isinstance(error, (FileNotFoundError, ConnectionRefusedError)), isinstance(error, (BrokenPipeError, ConnectionResetError))
    say("failed", status="NO_SERVER" if absent else "PEER_CLOSED" if left else "SYSTEM_ERROR", reason=str(error))
    os._exit(1)
