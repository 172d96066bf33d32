#!/usr/bin/env python3
"""Write the distinct manifests of a catalogue, as lines and as files.

	bench/make_manifests.py CATALOGUE.jsonl DIR

CATALOGUE is rows of the catalogue's export, or bundles as in
fixtures/liger-runs.jsonl. DIR/manifests.jsonl gets one manifest a line, in the
order of the input; DIR/tree/KIND/NUMBER.json the same lines, a file each. Of
manifests that differ in metadata only, the first is taken. Prints their number.
"""

import json
import os
import sys


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def manifests(value):
    """The manifests of a row or bundle; references before their runs."""
    if "table" in value:
        value = value["row"].get("manifest")
    if not isinstance(value, dict):
        return []
    if "apiVersion" in value and "kind" in value:
        return [value]
    members = [m for name, m in value.items() if name != "run"]
    return members + [value["run"]]


def identity(manifest):
    body = {name: manifest[name] for name in ("apiVersion", "kind", "spec")}
    return json.dumps(body, sort_keys=True)


def distinct(path):
    seen = set()
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            for manifest in manifests(json.loads(line)):
                key = identity(manifest)
                if key not in seen:
                    seen.add(key)
                    yield manifest


def main():
    path, directory = sys.argv[1:]
    count = 0
    with open(directory + "/manifests.jsonl", "w", encoding="utf-8") as out:
        for manifest in distinct(path):
            text = compact(manifest) + "\n"
            kind = "%s/tree/%s" % (directory, manifest["kind"])
            os.makedirs(kind, exist_ok=True)
            with open("%s/%06d.json" % (kind, count), "w", encoding="utf-8") as f:
                f.write(text)
            out.write(text)
            count += 1
    print(count)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: make_manifests.py CATALOGUE.jsonl DIR")
    main()
