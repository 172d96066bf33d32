# Run a command that asks on its terminal, and answer.
#
#	python3 terminal.py [PROMPT ANSWER]... -- COMMAND...
#
# The command gets a terminal of its own, in the foreground; its standard
# descriptors stay what they are here. When the terminal shows PROMPT, ANSWER
# is typed; "kill:TERM" sends that signal instead. What the terminal shows goes
# to the file terminal.said; terminal.stopped is made when the command stops,
# after which it is continued. The exit status is the command's, 128 and the
# signal where one ended it, or 99, with the reason on standard error, when the
# terminal shows what is typed while a prompt waits, does not show it after the
# end or a stop, or when a prompt does not come.

import os
import select
import signal
import struct
import sys
import termios
import time

PATIENCE = 20


def echoes(tty):
    return bool(termios.tcgetattr(tty)[3] & termios.ECHO)


def complain(text):
    sys.stderr.write("terminal.py: " + text + "\n")
    sys.stderr.flush()
    os._exit(99)


# The process that has the terminal, as a shell would: the command is a job in
# the foreground, and is continued when it stops.
def lead(name, command, tell):
    os.setsid()
    tty = os.open(name, os.O_RDWR)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(tty, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.close(tty)
        os.close(tell)
        os.execvp(command[0], command)
    os.write(tell, struct.pack("i", job))
    while True:
        _, status = os.waitpid(job, os.WUNTRACED)
        if not echoes(tty):
            complain("the terminal was left without echo")
        if not os.WIFSTOPPED(status):
            break
        open("terminal.stopped", "w").close()
        os.kill(-job, signal.SIGCONT)
    os._exit(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status)
             else os.WEXITSTATUS(status))


def answer(master, slave, job, text):
    if echoes(slave):
        complain("the terminal shows what is typed")
    if text.startswith("kill:"):
        os.kill(job, getattr(signal, "SIG" + text[5:]))
    else:
        os.write(master, text.encode("utf-8", "surrogateescape"))


# What the terminal shows until the job ends, and the child's wait status.
def converse(master, slave, child, job, steps):
    said, seen, status = b"", 0, None
    deadline = time.monotonic() + PATIENCE
    while status is None:
        if select.select([master], [], [], 0.05)[0]:
            said += os.read(master, 4096)
        else:
            done, code = os.waitpid(child, os.WNOHANG)
            status = code if done else None
        if steps and steps[0].encode() in said[seen:]:
            seen = len(said)
            answer(master, slave, job, steps[1])
            steps = steps[2:]
        if status is None and time.monotonic() > deadline:
            os.kill(job, signal.SIGKILL)
            complain("waited in vain for %r after %r" % (steps, said))
    if steps:
        complain("was not asked %r" % steps[0])
    return said, status


def main():
    cut = sys.argv.index("--")
    steps, command = sys.argv[1:cut], sys.argv[cut + 1:]
    master, slave = os.openpty()
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        name = os.ttyname(slave)
        for fd in master, slave, told:
            os.close(fd)
        lead(name, command, tell)
    job = struct.unpack("i", os.read(told, 4))[0]
    said, status = converse(master, slave, child, job, steps)
    with open("terminal.said", "wb") as file:
        file.write(said)
    sys.exit(os.WEXITSTATUS(status))


main()
