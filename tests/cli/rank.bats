#!/usr/bin/env bats
# kistore rank: the runs of a comparison group, in their order.

load ../lib/common
load ../lib/store
load ../lib/pages

prepare() {
	group_store
}

# The rows of the last output: marker, rank, value, name and digest.
rows() {
	awk '/^[> ] +([0-9]+=?|-) / { mark = substr($0, 1, 1); $0 = substr($0, 2)
		print mark ($1), $2, $3, $NF }' "$OUT"
}

# faster VALUE [FILTER…]: a run like the seed's, of another implementation and
# value; $PUT is its digest.
faster() {
	local value=$1
	shift
	put_manifest --argjson value "$value" ".spec.timing.latencyNs.median =
		\$value | .metadata.name = \"run-$RANDOM\" | ${1-.}" \
		"$CLOSURE/000/run.json"
}

# bats test_tags=valgrind
@test "seed 000 ranks 4 of 4, and is marked" {
	expect 0 kistore rank c3252a98
	silent_err
	rows | diff - <(cat <<-END
	 1 116.1 µs ${FIRST:7:12}
	 2 128.1 µs ${SECOND:7:12}
	 3 621.4 µs ${THIRD:7:12}
	>4 621.5 µs ${RUN:7:12}
	END
	)
	grep -qx '4 of 4 that rank' "$OUT"
	tr -s ' ' <"$OUT" >text
	grep -qx "comparison key $KEY" text
	grep -qx 'profile source_native' text
	grep -qx 'policy ranking-v1' text
	grep -qx 'metric latency · median' text
	grep -q '^ 1 116.1 µs █* Liger Liger-Kernel benchmarks Reported 2024-09-03 3de2d5f3d659$' \
		text
}

@test "seed 003 ranks 2 of 2" {
	expect 0 kistore rank 21df0b65
	rows | diff - <(printf ' 1 320.5 µs 3efaa4a362d4\n>2 2.57 ms 21df0b654e59\n')
	grep -qx '2 of 2 that rank' "$OUT"
}

@test "a key, or its first digits, asks for the group" {
	for key in "$KEY" "${KEY:7}" "${KEY:7:6}" "${KEY:0:20}"; do
		expect 0 kistore rank "$key"
		[ "$(rows | wc -l)" -eq 4 ]
		lacks '^>' "$OUT"
	done
	# Fewer digits are not taken.
	expect 3 kistore rank "${KEY:7:5}"
	expect 3 kistore rank "sha256:$(printf '0%.0s' {1..64})"
	silent_out
	err_has "has that digest, id, name or comparison key"
}

@test "what is no run, and what is nothing, does not rank" {
	expect 2 kistore rank "$OPERATION"
	silent_out
	err_has "$OPERATION is no BenchmarkRun"
	expect 3 kistore rank nothing
	expect 2 kistore rank
	expect 2 kistore rank --all --limit 3 c3252a98
	expect 2 kistore rank --csv --json c3252a98
	expect 2 kistore rank --limit 0 c3252a98
	kistore init bare.git >/dev/null
	kistore -q -C bare.git put --allow-missing "$CLOSURE/000/run.json" \
		>/dev/null
	expect 3 kistore -C bare.git rank c3252a98
	err_has "has no comparison key here"
}

@test "equal values share a rank, and the ranks are dense" {
	faster 128128
	expect 0 kistore rank c3252a98
	rows | awk '{ print $1 }' | tr '\n' ' ' | grep -qx '1 2= 2= 3 >4 '
}

@test "intervals that touch tie under strict_exact only" {
	strict='del(.spec.sourceNative)'
	for value in 100 105 120; do
		faster "$value" "$strict | .spec.protocolDigest =
			\"$(strict_protocol)\" | .spec.timing.latencyNs.confidence95
			= [$value - 3, $value + 3]"
	done
	expect 0 kistore rank "$PUT"
	grep -qE '^profile +strict_exact$' "$OUT"
	rows | awk '{ print $1 }' | tr '\n' ' ' | grep -qx '1= 1= >2 '
	# One run that is source native, and only equal values tie.
	faster 90 ".spec.protocolDigest = \"$(strict_protocol)\""
	expect 0 kistore rank "$PUT"
	grep -qE '^profile +source_native$' "$OUT"
	rows | awk '{ print $1 }' | tr '\n' ' ' | grep -qx '>1 2 3 4 '
}

# A protocol of its own, so that the group is.
strict_protocol() {
	jq -c '.spec.harness.name = "strict"' "$CLOSURE/000/protocol.json" \
		>strict.json
	kistore -q put strict.json >/dev/null
	kistore digest strict.json | cut -d ' ' -f 1
}

@test "retracted, superseded and failed runs are listed with the reasons" {
	kistore retract "$FIRST" --reason wrong >/dev/null
	kistore supersede "$SECOND" --by "$THIRD" >/dev/null
	expect 0 kistore rank c3252a98
	rows | diff - <(cat <<-END
	 1 621.4 µs ${THIRD:7:12}
	>2 621.5 µs ${RUN:7:12}
	 - 128.1 µs SUPERSEDED
	 - 116.1 µs RETRACTED
	END
	)
	grep -qx '2 of 2 that rank' "$OUT"
	grep -qx '2 of 2 that do not rank' "$OUT"
	expect 0 kistore rank --json c3252a98
	jq -e --arg first "$FIRST" '.ranked == 2 and .excluded == 2 and
		(.runs | map(select(.digest == $first))[0] |
		.rank == null and .reasons == ["RETRACTED"])' "$OUT"
	# The one that was asked for need not rank.
	expect 0 kistore rank "$FIRST"
	rows | grep -q '^>- 116.1'
	err_has "is retracted"
	kistore restore "$FIRST" --reason right >/dev/null
	expect 0 kistore rank c3252a98
	rows | head -n 1 | grep -q "^ 1 116.1 µs ${FIRST:7:12}"
	expect 0 kistore rank --at 2026-08-17 c3252a98
}

@test "what was retracted later ranks in the state before" {
	SOURCE_DATE_EPOCH=1787172800 kistore retract "$FIRST" --reason wrong \
		>/dev/null
	expect 0 kistore rank c3252a98
	grep -qx '3 of 3 that rank' "$OUT"
	expect 0 kistore rank --at 2026-08-17 c3252a98
	grep -qx '4 of 4 that rank' "$OUT"
}

@test "what was taken down is in no ranking" {
	kistore takedown "$FIRST" --reason law >/dev/null
	expect 0 kistore rank c3252a98
	grep -qx '3 of 3 that rank' "$OUT"
	lacks "${FIRST:7:12}" "$OUT"
}

@test "--limit shows the first, and the one that was asked for; --all all" {
	expect 0 kistore rank --limit 1 c3252a98
	rows | diff - <(printf ' 1 116.1 µs 3de2d5f3d659\n>4 621.5 µs c3252a98ba48\n')
	grep -qx '2 of 4 that rank (--all, --limit N show more)' "$OUT"
	expect 0 kistore rank --limit 2 "$KEY"
	rows | diff - <(printf ' 1 116.1 µs 3de2d5f3d659\n 2 128.1 µs 0f5887b03bd8\n')
	for value in {100..125}; do
		faster "$value"
	done
	expect 0 kistore rank "$KEY"
	[ "$(rows | wc -l)" -eq 20 ]
	expect 0 kistore rank --all "$KEY"
	[ "$(rows | wc -l)" -eq 30 ]
}

@test "--json and --csv carry the same rows" {
	expect 0 kistore rank --json c3252a98
	[ "$(wc -l <"$OUT")" -eq 1 ]
	jq -e --arg key "$KEY" --arg run "$RUN" --arg id "$ID" '
		.schema == "kistore-rank/1" and .comparisonKey == $key and
		.policy == "ranking-v1" and .profile == "source_native" and
		.metric == "latency" and .statistic == "median" and
		.unit == "ns" and .ranked == 4 and .excluded == 0 and
		.verified == false and
		(.runs | map(.value)) == [116064, 128128, 621376, 621504] and
		(.runs | map(.rank)) == [1, 2, 3, 4] and
		(.runs | map(.asked)) == [false, false, false, true] and
		(.runs[3] | .digest == $run and .id == $id and
			.text == "621.5 µs" and .evidence == "Reported" and
			.implementation == "Transformers" and
			.source == "Liger-Kernel benchmarks" and
			.reasons == [] and .tied == false)' "$OUT"
	jq -r '.runs[] | [.rank, .value, .digest, .implementation] | @tsv' \
		"$OUT" >json
	expect 0 kistore rank --csv c3252a98
	python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    print(row["rank"], row["value"], row["digest"], row["implementation"],
        sep="\t")' "$OUT" | diff json -
}

@test "--csv tells where it is not all of the group" {
	expect 0 kistore rank --csv --limit 1 c3252a98
	[ "$(wc -l <"$OUT")" -eq 3 ]
	err_is "kistore: 2 of 4 runs (--all, --limit N print more)"
	expect 0 kistore rank --csv c3252a98
	silent_err
}

@test "hostile names keep their place in every form" {
	need_terminal
	title=$'Rotary position embedding \u00b7 =1+1 "q", \033[31m\u202e\n'"$(printf '漢%.0s' {1..70})"
	jq -c --arg title "$title" '.metadata.title = $title |
		.metadata.name = "hostile" | .spec.callable.path = "x"' \
		"$CLOSURE/000/implementation.json" >hostile.json
	kistore -q put hostile.json >/dev/null
	digest=$(kistore digest hostile.json | cut -d ' ' -f 1)
	faster 5 ".spec.implementationDigest = \"$digest\""
	expect 0 kistore rank c3252a98
	LC_ALL=C lacks $'[\001-\011\013-\037\177]' "$OUT"
	rows | head -n 1 | grep -q "^ 1 5 ns ${PUT:7:12}$"
	grep -q '…' "$OUT"
	# In CSV it is what it is, but nothing that a spreadsheet runs.
	expect 0 kistore rank --csv c3252a98
	python3 -c 'import csv, sys
data = open(sys.argv[1], newline="").read()
assert data.count("\r\n") == 6 and data.count("\r") == 6, data
row = list(csv.DictReader(open(sys.argv[1], newline="")))[0]
assert row["implementation"].startswith("\x27=1+1 \"q\", \x1b[31m"), row
assert len(row) == 16, row' "$OUT"
	on_terminal 100 "$KISTORE" rank --csv c3252a98
	LC_ALL=C lacks $'[\001-\011\013\014\016-\037\177]' "$OUT"
	expect 0 kistore rank --json c3252a98
	jq -e '.runs[0].implementation | startswith("=1+1 \"q\"")' "$OUT"
	NO_COLOR=1 on_terminal 100 "$KISTORE" rank c3252a98
	LC_ALL=C lacks $'[\001-\011\013-\037\177]' "$OUT"
}

@test "a table keeps to the terminal's width as far as it goes" {
	need_terminal
	NO_COLOR=1 on_terminal 100 "$KISTORE" rank c3252a98
	sed -n '/rank  /,/that rank/p' "$OUT" >table
	[ "$(wc -L <table)" -le 100 ]
	grep -q '^> ' table
	on_terminal 100 "$KISTORE" rank c3252a98
	grep -q $'\033\\[1m> ' "$OUT"
	LC_ALL=C expect 0 kistore rank c3252a98
	grep -q '####' "$OUT"
	LC_ALL=C lacks $'\xe2\x96\x88' "$OUT"
}

@test "damage in a run of the group ends it, or is told" {
	kistore rank c3252a98 >/dev/null
	echo damage >damage
	replace "$(object_path "$SECOND")" damage
	expect 1 kistore rank c3252a98
	silent_out
	# Without tables that know the run nobody can say whose it was.
	rm -f demo.git/kistore-index.sqlite*
	expect 0 kistore rank c3252a98
	err_has "could not be read and are left out of what they would be found by: 1 ("
}

# ---- The catalogue ----------------------------------------------------------

@test "ranks of the published catalogue agree with its own rows" {
	need_shared data/catalog-2026-08-16-0022af0b.jsonl.zst
	file=$SHARED/data/catalog-2026-08-16-0022af0b.jsonl.zst
	export KISTORE_DIR=$PWD/all.git
	kistore init all.git >/dev/null
	kistore -q put "$file" >/dev/null
	zstd -dcq "$file" | python3 -c '
import collections, json, random, sys
groups, sources, runs = collections.defaultdict(list), {}, []
for line in sys.stdin:
    row = json.loads(line)
    table, row = row["table"], row["row"]
    if table == "sources":
        sources[row["id"]] = row["name"]
    elif table == "benchmark_runs":
        groups[row["comparisonKey"]].append(row)
def number(row):
    return float(row["primaryValue"])
random.seed(1)
keys = sorted(groups, key=lambda k: (-len(groups[k]), k))
tied = [k for k in keys if len({number(r) for r in groups[k] if
    r["status"] == "passed"}) < sum(r["status"] == "passed" for r in groups[k])]
failed = [k for k in keys if any(r["status"] != "passed" for r in groups[k])]
chosen = keys[:2] + tied[:4] + failed[:4] + random.sample(keys, 10)
for key in dict.fromkeys(chosen):
    rows = groups[key]
    good = [r for r in rows if r["status"] == "passed"]
    values = sorted({number(r) for r in good})
    # All are source native: equal values tie, and then the newer is first.
    good.sort(key=lambda r: r["id"])
    good.sort(key=lambda r: r["observedAt"], reverse=True)
    order = {"reported": 0, "reproducible": 1}
    good.sort(key=lambda r: -int(r["hasRawEvidence"] and r["sourceAvailable"]))
    good.sort(key=number)
    print(json.dumps({"key": key, "ranked": len(good),
        "excluded": len(rows) - len(good),
        "runs": [[values.index(number(r)) + 1, r["runDigest"], number(r),
            sources[r["sourceId"]], r["id"],
            sum(number(s) == number(r) for s in good) > 1] for r in good]}))
' >expected
	[ "$(wc -l <expected)" -ge 15 ]
	while IFS= read -r line; do
		jq -c '.runs' <<<"$line" >want
		expect 0 kistore rank --all --json "$(jq -r .key <<<"$line")"
		jq -c '[.runs[] | select(.rank) | [.rank, .digest, .value + 0.0,
			.source, .id, .tied]]' "$OUT" >got
		python3 - want got <<-'END'
		import json, sys
		want, got = (json.load(open(f)) for f in sys.argv[1:])
		assert want == got, (want[:3], got[:3])
		END
		jq -e --argjson line "$line" '.ranked == $line.ranked and
			.excluded == $line.excluded and
			(.runs | length) == .ranked + .excluded' "$OUT" >/dev/null
	done <expected
	# And what a page says of one of them, asked for by the id of its row.
	run=$(jq -c -s '.[0].runs[2]' expected)
	expect 0 kistore show "$(jq -r '.[4]' <<<"$run")"
	grep -q "^  Rank $(jq -r '.[0]' <<<"$run") in its comparison group" "$OUT"
}

@test "equals without an id come last, in rankings as in records" {
	local n=0 run=
	# Its digest's bytes are before the other's id, its text is behind.
	while [[ $run != sha256:[0-5]* ]]; do
		n=$((n + 1))
		run=$(jq -c --argjson n "$n" '.metadata.name = "n" |
			.spec.timing.latencyNs.median = 100 |
			.spec.measurements[0].value = $n' \
			"$CLOSURE/000/run.json" | tee without.json |
			"$KISTORE" digest - | cut -d ' ' -f 1)
	done
	kistore -q put without.json >/dev/null
	edited '.spec.timing.latencyNs.median = 100 | .metadata.name = "w"' \
		"$CLOSURE/000/run.json" >with.json
	with=$(kistore digest with.json | cut -d ' ' -f 1)
	jq -n --arg run "$with" '{($run):
		{id: "f0000000-0000-7000-8000-000000000000"}}' >id.json
	kistore -q put --provenance id.json with.json >/dev/null
	expect 0 kistore rank --json "$run"
	[ "$(jq -r '.runs[0].digest' "$OUT")" = "$with" ]
	[ "$(jq -r '.runs[1].digest' "$OUT")" = "$run" ]
	expect 0 kistore records --leaders --json --comparison "$KEY"
	[ "$(jq -r .run "$OUT")" = "$with" ]
}
