# What a directory that `kistore publish` made serves, judged by the C2SP texts
# alone (tlog-tiles, tlog-checkpoint), with nothing of kistore's:
#
#	python3 tests/lib/tiles.py DIR [ORIGIN]
#
# Exit 0 when every tile that the checkpoint implies is there to the byte, the
# root follows from them, and no tile is there that no size can have. Prints
# "SIZE ENTRIES-TAKEN-DOWN".
import base64
import hashlib
import os
import sys


def sha(data):
    return hashlib.sha256(data).digest()


def node(left, right):
    return sha(b"\1" + left + right)


def root_of(hashes):
    if len(hashes) == 1:
        return hashes[0]
    split = 1 << (len(hashes) - 1).bit_length() - 1
    return node(root_of(hashes[:split]), root_of(hashes[split:]))


def name(number):
    parts = ["%03d" % (number % 1000)]
    while number >= 1000:
        number //= 1000
        parts.insert(0, "x%03d" % (number % 1000))
    return "/".join(parts)


def path(level, number, width):
    return "tile/%s/%s%s" % (level, name(number),
                             "" if width == 256 else ".p/%d" % width)


def fail(text):
    print(text)
    sys.exit(1)


def read(where):
    full = os.path.join(top, where)
    if os.path.islink(full) or not os.path.isfile(full):
        # A reader that asks for a partial tile takes the full one instead.
        fail("missing: " + where)
    with open(full, "rb") as file:
        return file.read()


def widths(count):
    for number in range((count + 255) // 256):
        yield number, min(256, count - number * 256)


top = sys.argv[1]
note = read("checkpoint")
origin, size, root = note.split(b"\n\n")[0].decode().split("\n")[:3]
size = int(size)
if len(sys.argv) > 2 and origin != sys.argv[2]:
    fail("origin " + origin)

# Entries and their leaf hashes. One that was taken down is '-' and the hash.
leaves, gone = [], 0
for number, width in widths(size):
    bundle = read(path("entries", number, width))
    for _ in range(width):
        length = int.from_bytes(bundle[:2], "big")
        entry, bundle = bundle[2:2 + length], bundle[2 + length:]
        if len(entry) != length:
            fail("bundle %d ends early" % number)
        if entry[:1] == b"-" and len(entry) == 65:
            gone += 1
            leaves.append(bytes.fromhex(entry[1:].decode()))
        else:
            leaves.append(sha(b"\0" + entry))
    if bundle:
        fail("bundle %d has more" % number)

level, hashes = 0, leaves
while hashes:
    upper = []
    for number, width in widths(len(hashes)):
        wanted = hashes[number * 256:number * 256 + width]
        if read(path(level, number, width)) != b"".join(wanted):
            fail("wrong: " + path(level, number, width))
        if width == 256:
            upper.append(root_of(wanted))
    level, hashes = level + 1, upper
if base64.b64decode(root) != root_of(leaves):
    fail("root")

# What else there is has to be a partial tile of an earlier size, with the
# beginning of what its tile holds.
for folder, _, files in os.walk(os.path.join(top, "tile")):
    for file in files:
        full = os.path.join(folder, file)
        short = os.path.relpath(full, top)
        base, _, width = short.partition(".p/")
        if not width:
            continue
        parts = base.split("/")
        number = int("".join(p.lstrip("x") for p in parts[2:]))
        count = size >> 8 * (0 if parts[1] == "entries" else int(parts[1]))
        if (number + 1) * 256 <= count:
            fail("superfluous: " + short)
        if number * 256 + int(width) > count:
            fail("beyond: " + short)
        whole = read(path(parts[1], number, count - number * 256))
        part = read(short)
        if whole[:len(part)] != part or not part:
            fail("wrong: " + short)
print(size, gone)
