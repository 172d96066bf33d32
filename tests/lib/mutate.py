# What an upstream could serve that is next to an honest snapshot: for
# tests/stress/mirror-random.sh.
#
#	python3 tests/lib/mutate.py SEED REPOSITORY KEY SIZE BASE RECORDS
#
# A commit is made on the commit BASE, a snapshot of SIZE entries in the bare
# REPOSITORY, and the branch main leads to it: with a few more entries, the
# objects that they publish, and a note signed by KEY (PKCS#8 PEM) over whatever
# the log then is. What is wrong with it is up to SEED; often nothing is. RECORDS
# is a directory of manifests. Prints what was done, a line.
import base64
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import zlib

SEED, REPOSITORY, KEY, SIZE, BASE, RECORDS = sys.argv[1:7]
SIZE = int(SIZE)
random.seed(int(SEED))
done = []

FILE, DIRECTORY = "100644", "40000"
KERNEL = "kernelindex.dev/v1alpha1/"


# ---- git --------------------------------------------------------------------


def git(*words, data=None):
    return subprocess.run(
        ["git", "--git-dir", REPOSITORY, *words],
        input=data, check=True, stdout=subprocess.PIPE).stdout


def write(kind, data):
    raw = b"%s %d\0" % (kind.encode(), len(data)) + data
    name = hashlib.sha1(raw).hexdigest()
    path = f"{REPOSITORY}/objects/{name[:2]}/{name[2:]}"
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as out:
            out.write(zlib.compress(raw, 1))
    return name


def read(oid):
    return git("cat-file", "blob", oid)


def list_tree(commit):
    tree = {}
    for line in git("ls-tree", "-rz", commit).split(b"\0")[:-1]:
        meta, path = line.split(b"\t", 1)
        mode, _, oid = meta.decode().split(" ")
        tree[path.decode()] = [mode, oid]
    return tree


# {path: [mode, oid]}; a path that ends in "/" is an empty directory. `again`
# are paths whose entries come twice.
def write_tree(tree, again=(), prefix=""):
    names = {}
    for path in tree:
        if path.startswith(prefix):
            first, slash, _ = path[len(prefix):].partition("/")
            if first:
                names[first + slash] = path
    entries = []
    for name, path in names.items():
        if name.endswith("/"):
            mode = DIRECTORY
            oid = write_tree(tree, again, prefix + name)
            mode = modes.get(prefix + name, mode)
        else:
            mode, oid = tree[path]
        entry = b"%s %s\0" % (mode.encode(), name.rstrip("/").encode())
        key = name.encode()
        entries.append((key, entry + bytes.fromhex(oid)))
        if path in again:
            entries.append((key, entry + bytes.fromhex(oid)))
    return write("tree", b"".join(entry for _, entry in sorted(entries)))


modes = {}      # of directories that have none of a directory
again = set()


# ---- the log ----------------------------------------------------------------


def sha(data):
    return hashlib.sha256(data).digest()


def leaf(line):
    if line[:1] == b"-":
        try:
            return bytes.fromhex(line[1:].decode())
        except ValueError:
            pass
    return sha(b"\0" + line)


def root_of(hashes):
    if len(hashes) < 2:
        return hashes[0] if hashes else sha(b"")
    split = 1 << (len(hashes) - 1).bit_length() - 1
    return sha(b"\1" + root_of(hashes[:split]) + root_of(hashes[split:]))


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"),
                      ensure_ascii=False).encode()


def segments(tree):
    return sorted(path for path in tree if path.startswith("log/"))


def sign(text):
    with tempfile.NamedTemporaryFile() as file:
        file.write(text)
        file.flush()
        return subprocess.run(
            ["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", KEY,
             "-in", file.name], check=True, stdout=subprocess.PIPE).stdout


def note(origin, size, root, key_id):
    text = b"%s\n%d\n%s\n" % (origin, size, base64.b64encode(root))
    line = base64.b64encode(key_id + sign(text))
    return text + "\n\u2014 ".encode() + origin + b" " + line + b"\n"


# A frame of one uncompressed block.
def frame(body):
    out = b"\x28\xb5\x2f\xfd\xe0" + len(body).to_bytes(8, "little")
    blocks = [body[i:i + 65536] for i in range(0, len(body), 65536)] or [b""]
    for i, block in enumerate(blocks):
        last = i + 1 == len(blocks)
        out += (len(block) << 3 | last).to_bytes(3, "little") + block
    return out


def address(digest):
    return f"objects/{digest[7]}/{digest[8:10]}/{digest[10:]}.zst"


# ---- records ----------------------------------------------------------------

records = {}
for name in sorted(os.listdir(RECORDS)):
    if name.endswith(".json"):
        with open(f"{RECORDS}/{name}", encoding="utf-8") as file:
            records[name[:-5]] = json.load(file)


def digest_of(body):
    return "sha256:" + hashlib.sha256(body).hexdigest()


REFERENCES = {
    "implementation": [("spec", "operation", "specDigest")],
    "workload": [("spec", "operationSpecDigest")],
    "run": [("spec", "environmentDigest"), ("spec", "implementationDigest"),
            ("spec", "protocolDigest"), ("spec", "workloadDigest")],
}
KINDS = {
    "operationSpecDigest": "OperationSpec", "specDigest": "OperationSpec",
    "environmentDigest": "EnvironmentProfile",
    "implementationDigest": "ImplementationRevision",
    "protocolDigest": "BenchmarkProtocol", "workloadDigest": "WorkloadCase",
}


class Log:
    def __init__(self, lines):
        self.lines = lines
        self.at = "2026-01-01T00:00:00Z"
        self.kinds = {}         # of what was published
        self.open = []          # what waits, and of what kind
        self.bodies = {}
        for line in lines:
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            self.at = max(self.at, entry["at"])
            if entry["op"] == "publish":
                self.kinds[entry["digest"]] = entry["kind"]
                self.open += entry.get("missing", [])

    def add(self, **members):
        if "at" not in members:
            members["at"] = self.at
        self.lines.append(canonical(members))

    # A digest that was published, of that kind if there is one.
    def known(self, kind=None):
        fits = [digest for digest, of in self.kinds.items()
                if kind is None or of == KERNEL + kind]
        return random.choice(fits) if fits else "sha256:" + "0" * 64

    # A new record; sloppy: it refers to what it should not, or says it wrong.
    def publish(self, name=None, sloppy=False):
        name = name or random.choice(list(records))
        record = json.loads(json.dumps(records[name]))
        mark = f"v{random.getrandbits(40):x}"
        missing = set()
        for path in REFERENCES.get(name, []):
            at = record
            for member in path[:-1]:
                at = at[member]
            kind = KINDS[path[-1]]
            target = self.known(None if sloppy else kind)
            if random.random() < 0.2:
                target = digest_of(mark.encode() + path[-1].encode())
            at[path[-1]] = target
            if target not in self.kinds:
                missing.add(target)
        spec = record["spec"]
        if name == "project":
            spec["name"] = mark
        elif name == "operation":
            spec["family"] = mark
        elif name == "run":
            spec["sourceNative"]["externalId"] = mark
        elif name == "implementation":
            spec["licensing"]["declared"] = mark
        elif name == "workload":
            spec["axes"]["seq"] = random.getrandbits(30)
        else:
            spec["x" + mark] = mark
        body = canonical({member: record[member]
                          for member in ("apiVersion", "kind", "spec")})
        kind = record["apiVersion"] + "/" + record["kind"]
        return self.publish_body(body, kind, missing, mark)

    def publish_body(self, body, kind, missing=(), mark=None, **more):
        digest = digest_of(body)
        if digest in self.kinds:
            return digest
        if missing:
            more["missing"] = sorted(missing)
        if mark and random.random() < 0.5:
            more["metadata"] = {"name": mark}
        self.add(op="publish", digest=digest, kind=kind, **more)
        self.kinds[digest] = kind
        self.bodies[digest] = body
        return digest


# ---- what goes on -----------------------------------------------------------


def honest(log):
    what = random.randrange(10)
    if what < 6:
        log.publish()
    elif what == 6:
        log.add(op="annotate", digest=log.known(), metadata={"name": "new"})
    elif what == 7:
        log.add(op="retract", digest=log.known(), reason="wrong")
    elif what == 8:
        body = b"raw %d" % random.getrandbits(60)
        log.publish_body(body, "raw")
    else:
        log.add(op="x-note", text="hello")


def bad_line(log):
    digest, other = log.known(), log.known()
    new = "sha256:%064x" % random.getrandbits(256)
    a_source = digest_of(b"a source")
    choices = {
        "publish again": lambda: log.add(
            op="publish", digest=digest, kind=log.kinds.get(digest, "raw")),
        "publish no object": lambda: log.add(
            op="publish", digest=new, kind="raw"),
        "sloppy references": lambda: [
            log.publish(random.choice(list(REFERENCES)), sloppy=True)
            for _ in range(3)],
        "another kind": lambda: log.publish_body(
            canonical(dict(records["project"], spec={"name": new},
                           metadata=None)), KERNEL + "OperationSpec"),
        "raw of a record": lambda: log.publish_body(canonical({
            "apiVersion": "a/b", "kind": "C", "spec": {"n": new}}), "raw"),
        "unknown kind": lambda: log.publish_body(canonical({
            "apiVersion": "a/b", "kind": "C", "spec": {"n": new}}), "a/b/C"),
        "record of raw": lambda: log.publish_body(
            b"raw " + new.encode(), "a/b/C"),
        "wrong missing": lambda: log.publish_body(
            b"raw " + new.encode(), "raw", missing=[other]),
        "needless missing": lambda: log.publish_body(
            b"raw " + new.encode(), "raw", missing=[new]),
        "what waited": lambda: arrive(log),
        "annotate unpublished": lambda: log.add(
            op="annotate", digest=new, metadata={"name": "x"}),
        "annotate": lambda: log.add(op="annotate", digest=digest),
        "annotate source": lambda: log.add(
            op="annotate", digest=log.known("BenchmarkRun"),
            provenance={"source": random.choice([digest, new])}),
        "annotate project": lambda: log.add(
            op="annotate", digest=log.known("ImplementationRevision"),
            provenance={"project": random.choice([
                digest, log.known("SoftwareProject")])}),
        "source of others": lambda: log.publish_body(
            b"raw " + new.encode(), "raw", provenance={"source": digest}),
        "source": lambda: log.publish_body(
            run_of(log, new), KERNEL + "BenchmarkRun",
            missing=[a_source] if random.random() < 0.7 else [],
            provenance={"source": a_source}),
        "id": lambda: log.add(
            op="annotate", digest=digest, provenance={
                "id": "00000000-0000-4000-8000-00000000000%d"
                      % random.randrange(3)}),
        "restore": lambda: log.add(
            op="restore", digest=digest, reason="right"),
        "supersede": lambda: log.add(op="supersede", digest=digest, by=other),
        "supersede same": lambda: [
            log.add(op="supersede", digest=log.known("SoftwareProject"),
                    by=log.known("SoftwareProject")) for _ in range(4)],
        "supersede itself": lambda: log.add(
            op="supersede", digest=digest, by=digest),
        "takedown": lambda: log.add(
            op="takedown", digest=digest, reason="law"),
        "takedown with lines": lambda: log.add(
            op="takedown", digest=digest, reason="law",
            lines=[random.randrange(SIZE)]),
        "takedown of the new": lambda: log.add(
            op="takedown", digest=log.publish(), reason="law"),
        "redacted": lambda: log.lines.append(b"-" + new[7:].encode()),
        "redacted badly": lambda: log.lines.append(b"-" + new[8:].encode()),
        "unknown op": lambda: log.add(op="bless", digest=digest),
        "unknown member": lambda: log.add(
            op="retract", digest=digest, reason="wrong", colour="red"),
        "x- member": lambda: log.add(**{
            "op": "retract", "digest": digest, "reason": "wrong",
            "x-colour": "red"}),
        "no op": lambda: log.add(text="x"),
        "init": lambda: log.add(op="init", format="kistore/1"),
        "no reason": lambda: log.add(op="retract", digest=digest, reason=""),
        "null": lambda: log.add(
            op="retract", digest=digest, reason="x", retractedAt=None),
        "time back": lambda: log.add(
            op="x-note", at="2020-01-01T00:00:00Z"),
        "time wrong": lambda: log.add(op="x-note", at="2027-13-01T00:00:00Z"),
        "time forth": lambda: forth(log),
        "long": lambda: log.add(
            op="x-note", text="x" * random.choice([65480, 65535, 70000])),
        "deep": lambda: log.lines.append(
            b'{"at":"%s","op":"x-note","t":' % log.at.encode() + b"[" * 70 +
            b"]" * 70 + b"}"),
        "not canonical": lambda: log.lines.append(
            b'{"op": "x-note","at":"%s"}' % log.at.encode()),
        "no json": lambda: log.lines.append(b"hello"),
        "empty line": lambda: log.lines.append(b""),
        "carriage return": lambda: log.lines.append(
            canonical({"op": "x-note", "at": log.at}) + b"\r"),
        "NUL": lambda: log.lines.append(b"\0"),
        "key": lambda: log.add(
            op="key", role=random.choice(
                ["controlled", "revoked", "x-mine", "king"]), key=vkey),
        "log key": lambda: log.add(
            op="key", role="log", key=vkey, origin=origin.decode()),
        "log key and next": lambda: log.add(
            op="key", role="log", key=vkey, origin=origin.decode(),
            next=random.choice([new, digest_of(vkey.encode())])),
        "log key of another": lambda: log.add(
            op="key", role="log", key=other_vkey, origin="other.example"),
        "log key, other origin": lambda: log.add(
            op="key", role="log", key=vkey, origin="other.example"),
    }
    name = random.choice(list(choices))
    done.append(name)
    choices[name]()


def forth(log):
    log.at = "2099-01-01T00:00:00Z"
    log.add(op="x-note")


# What an earlier line waits for comes, of whatever kind: the first 3 that wait
# are the digests of bodies that are known (WAITING).
def arrive(log):
    for body, kind in random.sample(WAITING, len(WAITING)):
        if digest_of(body) in log.open and digest_of(body) not in log.kinds:
            log.publish_body(body, random.choice([kind, "raw"]))
            return
    log.publish()


WAITING = []
for name in ("operation", "project", "environment", "protocol"):
    value = json.loads(json.dumps(records[name]))
    value.pop("metadata", None)
    WAITING.append((canonical(value), value["apiVersion"] + "/" +
                    value["kind"]))


def run_of(log, mark):
    value = json.loads(json.dumps(records["run"]))
    value.pop("metadata", None)
    for path in REFERENCES["run"]:
        value["spec"][path[-1]] = log.known(KINDS[path[-1]])
    value["spec"]["sourceNative"]["externalId"] = mark
    return canonical(value)


def bad_old(log):
    i = random.randrange(SIZE)
    what = random.choice(["change", "drop", "swap", "redact", "insert"])
    done.append(f"{what} old {i}")
    if what == "change":
        log.lines[i] = log.lines[i].replace(b'"at":"2', b'"at":"1', 1)
    elif what == "drop":
        del log.lines[i]
    elif what == "swap":
        j = random.randrange(SIZE)
        log.lines[i], log.lines[j] = log.lines[j], log.lines[i]
    elif what == "redact":
        log.lines[i] = b"-" + leaf(log.lines[i]).hex().encode()
    else:
        log.lines.insert(i, canonical({"op": "x-note", "at": log.at}))


# ---- files ------------------------------------------------------------------

ODD = [
    "objects/x", "objects/c/x", "objects/c/32/x", "objects/zz/x",
    "objects/C/32/" + "a" * 61 + ".zst", "objects/c/32/" + "a" * 61 + ".zst",
    "objects/c/32/" + "a" * 60 + ".zst", "objects/c/32/" + "a" * 61,
    "objects/c/32/" + "a" * 61 + ".zst/x", "objects/c/32/" + "A" * 61 + ".zst",
    "objects/c/3/2" + "a" * 61 + ".zst", "objects/c/32/d/" + "a" * 61 + ".zst",
    "objects/", "objects/e/", "objects/zz/", "objects/c/ee/", "objects/c/zz/",
    "objects/c/32/" + "b" * 61 + ".zst/",
    "log/", "log/001/", "log/foo/", "log/000/foo/", "log/000/001.jsonl/",
    "log/000/foo", "log/foo", "log/000/255.jsonl", "log/000/256.jsonl",
    "log/001/000.jsonl", "log/0000/000.jsonl", "log/000/1.jsonl",
    "log/000/001.jsonl", "log/000/002.jsonl", "log/000/000.jsonl.zst",
    "log/999/255.jsonl", "log/1000/000.jsonl", "log/01000/000.jsonl",
    "log/000/0001.jsonl", "log/000/000.json", "log/000/003.jsonl/x",
    "log/99999999999/000.jsonl", "log/000000000000/000.jsonl",
    "checkpoints/", "checkpoints/0", "checkpoints/1", "checkpoints/00",
    "checkpoints/007", "checkpoints/abc", "checkpoints/99999",
    "checkpoints/18446744073709551616", "checkpoints/5/", "checkpoints/5/x",
    "checkpoints/x/", "checkpoint/x", "checkpoint/",
    "dictionaries/", "dictionaries/x", "dictionaries/x/", "dictionaries/x/y",
    "dictionaries/32768-" + "0" * 64 + ".zdict",
    "store.json", "store.json/", "store.json/x", ".gitattributes/",
    ".gitattributes", ".gitattributes/x", "README.md", "README.md/",
    "README.md/x", "LICENSE", "LICENSE/", "LICENSE/x", "logs/x", "Objects/x",
    "objects.x", "log.x", "log-x", "checkpoint.x", "docs/a/b/c/d/e/f/g/h",
    "objects-/x", "a/", "~", "dictionaries-x", "dictionaries0/x", "0",
]


def change_file(tree):
    what = random.choice(["odd", "odd", "odd", "mode", "delete", "bytes",
                          "copy", "move", "twice", "reframe", "directory",
                          "checkpoint", "dictionary"])
    paths = [path for path in tree if not path.endswith("/")]
    path = random.choice(paths)
    if random.random() < 0.5:
        path = random.choice([p for p in paths if "objects" not in p])
    if what == "odd":
        path = random.choice(ODD)
        if path.endswith("/") and path[:-1] in tree:
            del tree[path[:-1]]
        for other in list(tree):
            if other.startswith(path + "/") or (
                    path.endswith("/") and other.startswith(path) and
                    random.random() < 0.5):
                del tree[other]
            if path.startswith(other + "/"):
                del tree[other]
        tree[path] = [FILE, write("blob", random.choice(
            [b"", b"x", b"{}\n", b"* -text\n"]))]
    elif what == "mode":
        tree[path] = [random.choice(
            ["100755", "120000", "100664", "160000", "100600", "0"]),
            tree[path][1]]
    elif what == "delete":
        del tree[path]
    elif what == "bytes":
        data = bytearray(read(tree[path][1]))
        how = random.randrange(3)
        if how == 0 and data:
            data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        elif how == 1:
            del data[random.randrange(len(data) + 1):]
        else:
            data += random.choice([b"\n", b"x", b"\0", b"\n\n", b"x\n"])
        tree[path] = [FILE, write("blob", bytes(data))]
    elif what in ("copy", "move"):
        other = random.choice(paths)
        tree[other] = tree[path]
        if what == "move" and other != path:
            del tree[path]
        path += " " + other
    elif what == "twice":
        again.add(path)
    elif what == "reframe":
        path = random.choice([p for p in paths if p.startswith("objects")])
        digest = "sha256:" + path[8:-4].replace("/", "")
        body = log.bodies.get(digest, b"x")
        other = frame(body)
        if random.random() < 0.5:
            other = other[:4] + b"\xa0" + other[5:9] + other[13:]
        tree[path] = [FILE, write("blob", other)]
    elif what == "directory":
        path = random.choice(["objects/", "log/", "checkpoints/", "log/000/",
                              path[:10] + "/"])
        modes[path] = random.choice(["100644", "120000", "160000", "040000"])
    elif what == "checkpoint":
        path = random.choice([p for p in paths if p.startswith("checkpoint")])
        tree[path] = [FILE, write("blob", read(tree[path][1]) +
                                  random.choice(STRANGE))]
        if random.random() < 0.7:
            newest = f"checkpoints/{size}"
            tree["checkpoint"] = tree[newest] = tree[path]
    else:
        text = random.choice(DICTIONARIES)
        number = int.from_bytes(text[4:8], "little")
        path = f"dictionaries/{number}-{hashlib.sha256(text).hexdigest()}" \
            ".zdict"
        if random.random() < 0.3:
            path = path.replace(str(number), str(number + 1), 1)
        tree[path] = [FILE, write("blob", text)]
    done.append(f"{what} {path}")


def line_of(name, data):
    return "\u2014 ".encode() + name + b" " + base64.b64encode(data) + b"\n"


# ---- all of it --------------------------------------------------------------

tree = list_tree(BASE)
store = json.loads(read(tree["store.json"][1]))
origin = store["origin"].encode()
public = subprocess.run(
    ["openssl", "pkey", "-in", KEY, "-pubout", "-outform", "DER"],
    check=True, stdout=subprocess.PIPE).stdout[-32:]


def key_id_of(name, kind, key):
    return sha(name + b"\n" + kind + key)[:4]


# What a line says, if it says anything.
def entry_of(line):
    try:
        entry = json.loads(line)
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) else {}


def vkey_of(name, kind, key):
    return (name + b"+" + key_id_of(name, kind, key).hex().encode() + b"+" +
            base64.b64encode(kind + key)).decode()


key_id = key_id_of(origin, b"\1", public)
vkey = vkey_of(origin, b"\1", public)
other_vkey = vkey_of(b"other.example", b"\1", public[::-1])
STRANGE = [
    line_of(b"witness.example", os.urandom(76)), b"\n", b"x",
    line_of(b"w", b"1234" + b"x" * 64), line_of(b"w", b""),
    line_of(origin, key_id + b"x" * 64),
    line_of(origin, b"1234" + b"x" * 64),
    b"".join(line_of(b"w%d" % i, b"1234" + b"x" * 72) for i in range(20)),
    b"".join(line_of(b"w%d" % i, b"1234" + b"x" * 72) for i in range(120)),
]
DICTIONARIES = [b"\x37\xa4\x30\xec" + (32768 + i).to_bytes(4, "little") +
                b"x" * 100 for i in range(2)] + [b"x" * 100]
for path in tree:
    if path.startswith("dictionaries/"):
        DICTIONARIES += [read(tree[path][1])] * 3

texts = [read(tree[path][1]) for path in segments(tree)]
log = Log(b"".join(texts).split(b"\n")[:-1])
old_segments = segments(tree)

for _ in range(random.choice([0, 1, 2, 2, 3, 5])):
    honest(log)
bad = random.random()
if bad < 0.45:
    for _ in range(random.choice([1, 1, 2, 3])):
        bad_line(log)
        if random.random() < 0.5:
            honest(log)
elif bad < 0.5:
    bad_old(log)

for path in old_segments:
    del tree[path]
for i in range(0, len(log.lines), 256):
    number = i // 256
    tree[f"log/{number // 256:03}/{number % 256:03}.jsonl"] = [
        FILE, write("blob", b"".join(
            line + b"\n" for line in log.lines[i:i + 256]))]
left_out = random.random() < 0.03
gone = {entry["digest"] for entry in map(entry_of, log.lines)
        if entry.get("op") == "takedown" and "digest" in entry}
if random.random() < 0.8:
    for digest in gone:
        tree.pop(address(digest), None)
for digest, body in log.bodies.items():
    if digest in gone and random.random() < 0.8:
        continue
    if left_out and random.random() < 0.5:
        done.append("left out an object")
        continue
    tree[address(digest)] = [FILE, write("blob", frame(body))]

# The tail that no note covers, and notes of sizes between.
size = len(log.lines)
sizes = {size}
if random.random() < 0.1:
    sizes.add(random.randrange(SIZE, size + 1) if size >= SIZE else size)
if random.random() < 0.03:
    sizes.add(size + 1)
    done.append("a note beyond the log")
for n in sizes:
    text = note(origin, n, root_of([leaf(line) for line in log.lines[:n]]),
                key_id)
    tree[f"checkpoints/{n}"] = [FILE, write("blob", text)]
newest = max(int(path[12:]) for path in tree if path[:12] == "checkpoints/")
tree["checkpoint"] = tree[f"checkpoints/{newest}"]

if 0.4 < bad and random.random() < 0.8:
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        change_file(tree)

commit = write("commit", b"""tree %s
parent %s
author a <a@example> %d +0000
committer a <a@example> %d +0000

next
""" % (write_tree(tree, again).encode(), BASE.encode(), 1800000000,
       1800000000))
git("update-ref", "refs/heads/main", commit)
print(f"{size} entries: " + ", ".join(done))
