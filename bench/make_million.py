#!/usr/bin/env python3
"""Print COUNT synthetic manifests, one a line: runs as the catalogue has them.

	bench/make_million.py 1000000 CATALOGUE.jsonl | zstd > million.jsonl.zst

Every eighth run of the input is a template (every one where there are fewer
than 1,000). First come the manifests that the templates refer to, then runs:
copies of the templates with other times, names, external ids and values, so
that no two digests are equal. The same input and COUNT give the same bytes.

CATALOGUE is rows of the catalogue's export, or bundles as in
fixtures/liger-runs.jsonl. With --more N, only N further runs are printed, which
are new to a store of those COUNT.
"""

import argparse
import json
import re
import sys
from datetime import datetime, timedelta

DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
START = datetime(2026, 1, 1)
# The column that states the digest of a row's manifest.
COLUMN = {
    "operations": "semanticDigest",
    "workloads": "workloadDigest",
    "implementations": "implementationDigest",
}


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def read(path):
    """The runs of a file, and its other manifests: text by digest, where the
    file states digests, else by the text itself."""
    runs, others = [], {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            value = json.loads(line)
            if "table" not in value:
                bundle = dict(value)
                runs.append(bundle.pop("run"))
                for manifest in bundle.values():
                    others.setdefault(compact(manifest), compact(manifest))
                continue
            row = value["row"]
            if value["table"] == "benchmark_runs":
                manifest = row["manifest"]
                runs.append(manifest["run"])
                for member in "protocol", "environment":
                    others[row[member + "Key"]] = compact(manifest[member])
            elif value["table"] in COLUMN:
                others[row[COLUMN[value["table"]]]] = compact(row["manifest"])
    return runs, others


def closure(runs, others):
    """The manifests that the runs refer to, each after its own references.
    A manifest known by its text only is taken in any case."""
    out = {}

    def take(digest):
        if digest in out or digest not in others:
            return
        for reference in DIGEST.findall(others[digest]):
            take(reference)
        out[digest] = others[digest]

    for digest in others:
        if not digest.startswith("sha256:"):
            take(digest)
    for run in runs:
        for digest in DIGEST.findall(compact(run["spec"])):
            take(digest)
    return list(out.values())


def scaled(value, factor):
    """A number of the same kind, near the old one."""
    if isinstance(value, int):
        return value + int(value * factor)
    return value * (1 + factor)


def vary(template, number):
    """Run NUMBER: the template observed at another time, with other values."""
    factor = (number * 2654435761 % 1000003) / 1e7
    spec = dict(template["spec"])
    at = START + timedelta(seconds=number * 7, milliseconds=number % 1000)
    spec["observedAt"] = at.strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (
        number % 1000
    )
    if "timing" in spec:
        timing = dict(spec["timing"])
        timing["latencyNs"] = {
            name: scaled(value, factor)
            for name, value in timing["latencyNs"].items()
        }
        spec["timing"] = timing
    if "measurements" in spec:
        spec["measurements"] = [
            dict(m, value=scaled(m["value"], factor))
            for m in spec["measurements"]
        ]
    native = dict(spec["sourceNative"])
    native["externalId"] = "submission/%d" % number
    if "metrics" in native:
        native["metrics"] = {
            name: scaled(value, factor)
            for name, value in native["metrics"].items()
        }
    spec["sourceNative"] = native
    metadata = dict(template["metadata"])
    metadata["name"] = "synthetic-%d" % number
    return compact(dict(template, spec=spec, metadata=metadata))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("count", type=int)
    parser.add_argument("catalogue")
    parser.add_argument("--more", type=int, metavar="N")
    args = parser.parse_args()

    runs, others = read(args.catalogue)
    templates = runs[::8] if len(runs) >= 1000 else runs
    first, last = args.count, args.count + (args.more or 0)
    if args.more is None:
        references = closure(templates, others)[: args.count]
        first, last = 0, args.count - len(references)
        for text in references:
            print(text)
    for number in range(first, last):
        print(vary(templates[number % len(templates)], number))


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
