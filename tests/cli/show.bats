#!/usr/bin/env bats
# kistore show: an object as a page.

load ../lib/common
load ../lib/store
load ../lib/pages

prepare() {
	group_store
}

# Every element of the last --json, a line each: titles, and rows as a page
# without columns has them.
elements() {
	jq -r '.sections[] | .title, (.rows[] |
		.label + .value, .label + .value + .note)' "$OUT"
}

# all_lines FILE: each of its lines is an element.
all_lines() {
	local line count=0
	elements >all
	while IFS= read -r line; do
		if ! grep -qxF -- "$line" all; then
			echo "not on the page: $line"
			return 1
		fi
		count=$((count + 1))
	done <"$1"
	[ "$count" -gt 0 ]
}

# The lines of the seed's page, but for the manifest's place, which has a test
# of its own; the last line is three elements without a break.
page_lines() {
	sed -e '/^{manifest}$/d' -e 's/\(-Clause\)\(All .*→\)\(JSON\)$/\1\n\2\n\3/' \
		"$CLOSURE/000/page-lines.txt"
}

# bats test_tags=valgrind
@test "a run's page has every line of the page that was published" {
	page_lines >lines
	[ "$(wc -l <lines)" -eq 49 ]
	expect 0 kistore show --json c3252a98
	all_lines lines
	# In the order of the page, as text: label, value and note in one line.
	expect 0 kistore show c3252a98
	silent_err
	tr -d ' ' <"$OUT" >text
	at=0
	while IFS= read -r line; do
		found=$(tail -n "+$((at + 1))" text |
			grep -nF -m 1 -- "${line// /}" | cut -d : -f 1)
		[ -n "$found" ] || {
			echo "not there, or not in order: $line"
			return 1
		}
		at=$((at + found))
	done <lines
}

@test "the loop over the lines fails where one is not on the page" {
	page_lines | sed 's/^definition comparatornot_asserted$/comparatornot_asserted/' \
		>lines
	expect 0 kistore show --json c3252a98
	fails all_lines lines
	page_lines | sed 's/621\.5µsmedian/621.6µsmedian/' >lines
	fails all_lines lines
	: >lines
	fails all_lines lines
}

@test "--manifest has the manifest's text, as get --page prints it" {
	expect 0 kistore show --json --manifest c3252a98
	kistore get --page c3252a98 >manifest
	jq -j '.sections[] | select(.title == "Canonical manifest").rows[0] |
		.value + "\n"' "$OUT" | cmp - manifest
	expect 0 kistore show --manifest c3252a98
	sed -n '/^  {$/,/^  }$/s/^  //p' "$OUT" | cmp - manifest
}

@test "the header has name, operation, workload, id, state and evidence" {
	expect 0 kistore show c3252a98
	head -n 4 "$OUT" | diff - <(cat <<-'END'
	Run 01a016ae · KernelIndex
	Transformers
	Rotary position embedding · seq = 2048 · hidden = 8192 · q_heads = 32 · kv_heads = 8 · bf16 · run 01a016ae-0000…
	● passed · Reported evidence
	END
	)
}

@test "the citation has the id, and names the day" {
	label='seq = 2048 · hidden = 8192 · q_heads = 32 · kv_heads = 8 · bf16'
	title='Cite this record (permalink, digest, access date)'
	expect 0 kistore show --json --accessed 2026-11-30 c3252a98
	[ "$(value_of "$title" '')" = "Transformers · Rotary position embedding, $label. 621.5 µs (median). Reported by Liger-Kernel benchmarks. KernelIndex run $ID, $RUN. https://kernelindex.com/runs/$ID. Accessed 2026-11-30." ]
	# Without an id the digest stands for it, once.
	expect 0 kistore show --json 3de2d5f3
	value_of "$title" '' | grep -qF "KernelIndex run $FIRST. https://kernelindex.com/runs/$FIRST. Accessed 2026-08-17."
	for day in 30.11.2026 2026-13-01 2026-02-29 2026-11-31 2026-11-3 \
		2026-11-30T00:00:00Z ''; do
		expect 2 kistore show --accessed "$day" c3252a98
		silent_out
		err_has "$day is no date YYYY-MM-DD"
	done
	expect 0 kistore show --accessed 2028-02-29 c3252a98
}

@test "what was observed more than 180 days ago is said to be old" {
	# 2024-09-03T15:39:59Z and 180 days.
	SOURCE_DATE_EPOCH=1740929999 expect 0 kistore show c3252a98
	lacks 'Not re-observed' "$OUT"
	SOURCE_DATE_EPOCH=1740930000 expect 0 kistore show c3252a98
	grep -qx 'Not re-observed recently.' "$OUT"
}

@test "--json says what each value rests on" {
	expect 0 kistore show --json c3252a98
	[ "$(wc -l <"$OUT")" -eq 1 ]
	jq -e --arg run "$RUN" --arg id "$ID" --arg key "$KEY" '
		.schema == "kistore-show/1" and .digest == $run and
		.kind == "kernelindex.dev/v1alpha1/BenchmarkRun" and
		.title == "Transformers" and .id == $id and
		.comparisonKey == $key and .verified == false and
		.retracted == false and .superseded == false and
		([.sections[].rows[] | has("label") and has("value") and
			has("note") and
			(.from | IN("text", "object", "log", "derived"))] |
			all)' "$OUT"
	jq -e '[.sections[].rows[] | select(.label | IN("implementation",
		"project", "source")).from] == ["log", "log", "log"] and
		[.sections[] | select(.title == "Measurements").rows[].from] ==
		["object", "object", "object"]' "$OUT"
	jq -e --arg digest "$IMPLEMENTATION" '[.sections[].rows[] |
		select(.label == "implementation").digest] == [$digest]' "$OUT"
}

@test "a failed run says why it does not rank" {
	put_manifest '.spec.status = "runtime_error" | del(.spec.timing) |
		.spec.measurements = []' "$CLOSURE/000/run.json"
	expect 0 kistore show "$PUT"
	grep -qx '  0  value' "$OUT"
	grep -qx '  Not eligible to rank: STATUS_RUNTIME_ERROR, MISSING_PRIMARY_METRIC' \
		"$OUT"
	grep -qx 'runtime error · Reported evidence' "$OUT"
	grep -qx '  No correctness policy recorded for this run.' "$OUT"
	grep -qx '  Only the primary measurement was published.' "$OUT"
}

@test "correctness, interval, samples, artifacts and settings are shown" {
	log=sha256:$(printf 'a log\n' | sha256sum | cut -c1-64)
	# shellcheck disable=SC2016 # jq's own
	put_manifest --arg log "$log" '.spec.timing = {
		primaryStatistic: "mean", samples: 20,
		latencyNs: {mean: 620000, median: 621504, p95: 700000,
			minimum: 600000, confidence95: [610000, 640000]}} |
		.spec.correctness = {comparator: "allclose",
			maximumAbsoluteError: 1e-7, matchedRatio: 0.5} |
		.spec.evidence = {logs: {uri: "https://example.org/log",
			digest: $log}}' "$CLOSURE/000/run.json"
	expect 0 kistore show "$PUT"
	tr -s ' ' <"$OUT" >text
	grep -qx ' 620.0µs ±15.00 · mean of 20' text
	grep -qx ' comparator allclose' text
	grep -qx ' max absolute error 1e-7' text
	grep -qx ' matched ratio 0.5' text
	grep -qx ' result passed' text
	grep -qx ' latency · mean 620.0 µs · n=20' text
	grep -qx ' latency · p95 700.0 µs · n=20' text
	grep -qx ' latency · min 600.0 µs · n=20' text
	grep -qx " logs ${log:0:23}… · unknown · public absent" text
}

@test "a run without what it refers to says what is missing" {
	kistore init bare.git >/dev/null
	kistore -q -C bare.git put --allow-missing "$CLOSURE/000/run.json" \
		>/dev/null
	expect 0 kistore -C bare.git show c3252a98
	tr -s ' ' <"$OUT" >text
	grep -qx 'Run c3252a98 · KernelIndex' text
	grep -qx ' implementation 459baf6556e5 missing' text
	grep -qx ' workload c66457140cb6 missing' text
	grep -qx ' comparison key unknown: what it is made of is not here' text
	grep -qx ' source liger-kernel-bench' text
	grep -qx ' source-native comparison · observed 2024-09-03' text
	[ "$(grep -c '^ not in this store missing' text)" -eq 3 ]
	grep -qx 'Published — · liger-kernel-bench' text
}

@test "retraction: before, after, and restored" {
	SOURCE_DATE_EPOCH=1787086400 kistore retract c3252a98 \
		--reason 'the timer included the warm-up' >/dev/null
	expect 0 kistore show c3252a98
	grep -qx 'Retracted 2026-08-18: the timer included the warm-up' "$OUT"
	grep -qx '  Not eligible to rank: RETRACTED' "$OUT"
	grep -q '^  retract  2026-08-18T20:53:20Z: the timer' "$OUT"
	expect 0 kistore show --json c3252a98
	jq -e '.retracted' "$OUT"
	# The state before it.
	expect 0 kistore show --at 2026-08-17 c3252a98
	lacks '^Retracted' "$OUT"
	grep -q '^  Rank 4 in its comparison group' "$OUT"
	SOURCE_DATE_EPOCH=1787172800 kistore restore c3252a98 \
		--reason 'it did not' >/dev/null
	expect 0 kistore show c3252a98
	lacks '^Retracted' "$OUT"
	grep -q '^  Rank 4 in its comparison group' "$OUT"
	grep -q '^  restore' "$OUT"
}

@test "a retraction that was imported with its actor is compact JSON" {
	manifest=$(jq -c . "$CLOSURE/003/run.json")
	jq -cn --argjson run "$manifest" \
		--slurpfile protocol "$CLOSURE/003/protocol.json" \
		--slurpfile environment "$CLOSURE/003/environment.json" '
		{table: "benchmark_runs", row: {
		id: "01a016af-0000-7000-8000-000000000000",
		retractedAt: "2026-08-19T00:00:00.000Z",
		retractionReason: {reason: "a slip", actor: "m"},
		manifest: {run: $run, protocol: $protocol[0],
			environment: $environment[0]}}}' >rows.jsonl
	kistore -q put rows.jsonl >/dev/null
	expect 0 kistore show 21df0b65
	grep -qx 'Retracted 2026-08-19: {"actor":"m","reason":"a slip"}' "$OUT"
}

@test "supersession: the page says so, and leads on" {
	kistore supersede c3252a98 --by 09e771f0 >/dev/null
	expect 0 kistore show c3252a98
	grep -qx 'Superseded by a corrected run; preserved for the audit trail.  09e771f055f2' \
		"$OUT"
	grep -qx '  Not eligible to rank: SUPERSEDED' "$OUT"
	expect 0 kistore show --json c3252a98
	jq -e --arg by "$THIRD" '.superseded and ([.sections[].rows[] |
		select(.value | startswith("Superseded")).digest] == [$by])' "$OUT"
	expect 0 kistore show 09e771f0
	grep -q '^  Rank 3 in its' "$OUT"
	kistore restore c3252a98 --reason no >/dev/null
	expect 0 kistore show c3252a98
	lacks '^Superseded' "$OUT"
}

@test "what was taken down is not shown, and other pages say that it was" {
	size=$(kistore log --root | cut -d ' ' -f 1)
	kistore takedown "$WORKLOAD" --reason law >/dev/null
	expect 3 kistore show c66457140c
	silent_out
	err_has "$WORKLOAD was taken down"
	expect 3 kistore show --json c66457140c
	jq -e '.error.code == "not-found"' "$OUT"
	expect 0 kistore show c3252a98
	grep -qE '^  workload +c66457140cb6  taken down$' "$OUT"
	expect 0 kistore show --at "$size" c66457140c
	grep -q '^seq = 2048' "$OUT"
}

@test "an object that is damaged or absent ends it" {
	echo damage >damage
	replace "$(object_path "$PROTOCOL")" damage
	expect 1 kistore show c3252a98
	silent_out
	remove "$(object_path "$PROTOCOL")"
	expect 1 kistore show c3252a98
	silent_out
	err_has "$PROTOCOL was published but its object is absent"
	# A page that does not need it.
	expect 0 kistore show "$OPERATION"
}

@test "a reference that means nothing, or several things, ends with 3" {
	expect 3 kistore show nothing
	silent_out
	expect 3 kistore show liger-bench
	expect 2 kistore show
	expect 2 kistore show a b
}

# ---- Other kinds ------------------------------------------------------------

@test "every kind has its members by name, and what uses it" {
	expect 0 kistore show "$OPERATION"
	tr -s ' ' <"$OUT" >text
	grep -qx 'OperationSpec · liger-rope' text
	grep -qx ' Rotates query and key heads by position; one sequence per call, grouped key/value heads.' text
	grep -qx ' family rope' text
	grep -qx ' head_dim role derived · type integer · expression hidden // q_heads' \
		text
	grep -qx ' q float \[1, q_heads, seq, head_dim\]' text
	grep -qx ' mutation none' text
	grep -qx ' ImplementationRevision 2 by operation.specDigest: kistore list --kind ImplementationRevision --operation e655a9562986' text
	grep -q '^ WorkloadCase 1 by operationSpecDigest' text
	grep -qx ' ImplementationRevision Rotary position embedding · Liger 51eb16de033f' \
		text
	expect 0 kistore show 459baf65
	tr -s ' ' <"$OUT" >text
	grep -qx 'Transformers' text
	grep -qx ' project Hugging Face Transformers 1e8503b1cc39' text
	grep -qx ' operation Rotary position embedding e655a9562986' text
	grep -qx ' declared Apache-2.0' text
	grep -q '^ BenchmarkRun 2 by implementationDigest' text
	expect 0 kistore show c66457140c
	tr -s ' ' <"$OUT" >text
	grep -qx ' k bf16 \[1, 8, 2048, 256\]' text
	grep -q '^ BenchmarkRun 4 by workloadDigest' text
}

@test "the commands that a page names do what it says" {
	for record in "$OPERATION" "$WORKLOAD" "$IMPLEMENTATION" "$PROJECT"; do
		expect 0 kistore show --json "$record"
		jq -r '.sections[] | select(.title == "Used by").rows[] |
			select(.note | contains("kistore list")) | .value + " " +
			(.note | sub(".*: kistore "; ""))' "$OUT" >commands
		[ -s commands ]
		while read -r count words; do
			# shellcheck disable=SC2086 # a command line
			expect 0 kistore $words
			[ "$(wc -l <"$OUT")" -eq "$count" ]
		done <commands
	done
}

@test "a Source has its policy, and who is from there" {
	source=$(kistore show --json c3252a98 | jq -r '[.sections[].rows[] |
		select(.label == "source").digest][0]')
	expect 0 kistore show "$source"
	tr -s ' ' <"$OUT" >text
	grep -qx 'Liger-Kernel benchmarks' text
	grep -qx ' slug liger-kernel-bench' text
	grep -qx ' license BSD-2-Clause' text
	grep -q '^ BenchmarkRun 6 by source' text
}

@test "an Artifact is archived or described" {
	digest=sha256:$(printf 'a log\n' | sha256sum | cut -c1-64)
	jq -n --arg digest "$digest" '{apiVersion: "kistore/v1",
		kind: "Artifact", spec: {digest: $digest, sizeBytes: 6,
		mediaType: "text/plain", kind: "log", storage: "inline",
		license: "Apache-2.0", name: "run.log"}}' >artifact.json
	kistore -q put artifact.json >/dev/null
	artifact=$(kistore digest artifact.json | cut -d ' ' -f 1)
	expect 0 kistore show "$artifact"
	tr -s ' ' <"$OUT" >text
	head -n 2 text | diff - <(printf 'run.log\nArtifact\n')
	grep -qx ' mediaType text/plain' text
	grep -qx " digest run.log described ${digest:7:12}" text
	grep -qx " state described the bytes are absent ${digest:7:12}" text
}

@test "an unknown kind is shown by its members" {
	printf '{"apiVersion":"x/v1","kind":"Odd","spec":{"a":{"b":[1,{"c":[]}]},%s}}' \
		'"list":[true,null,"t"],"n":1.5' >odd.json
	kistore -q put --allow-unknown-kind odd.json >/dev/null
	odd=$(kistore digest --allow-unknown-kind odd.json | cut -d ' ' -f 1)
	expect 0 kistore show "$odd"
	tr -s ' ' <"$OUT" >text
	grep -qx ' kind x/v1/Odd' text
	grep -qx ' n 1.5' text
	grep -qx ' list true, null, t' text
	grep -qx ' b \[1,{"c":\[\]}\]' text
}

@test "members beyond the limit are counted" {
	jq -nc '{apiVersion: "x/v1", kind: "Long", spec: {m:
		([range(1000) | {key: "k\(.)", value: .}] | from_entries)}}' \
		>long.json
	kistore -q put --allow-unknown-kind long.json >/dev/null
	expect 0 kistore show "$(kistore digest --allow-unknown-kind long.json |
		cut -d ' ' -f 1)"
	grep -qx '  and 801 more' "$OUT"
	[ "$(grep -cE '^  k[0-9]+ ' "$OUT")" -eq 199 ]
}

@test "a serving run has KernelIndex's page" {
	put_serving
	expect 0 kistore show "$SERVING"
	tr -s ' ' <"$OUT" >text
	grep -qx "Serving run ${SERVING:7:8} · KernelIndex" text
	grep -qx 'vLLM on eight' text
	grep -qx "A model · chat, interactive · run ${SERVING:7:13}…" text
	grep -qx 'valid · Reported evidence' text
	grep -qx ' output_token_throughput_tps · reported 8,840.421 tokens_s' text
	grep -qx ' A model · chat, interactive · interactive · 8× MI300X × 2 nodes · mlperf_closed_99 · observed 2025-09-04' text
	grep -qx ' One thing. Another.' text
	grep -qx ' topology 8× MI300X × 2 nodes' text
	grep -qx ' harness mlperf_loadgen v5.1' text
	grep -qx ' quality policy mlperf_closed_99' text
	grep -qx ' stack 0.9 [0-9a-f]\{12\}' text
	grep -qx ' comparison key sha256:[0-9a-f]\{16\}…' text
	grep -qx 'Launch configuration' text
	grep -qx ' system Eight' text
	grep -qx ' streaming yes' text
	grep -qx ' load generation open_loop' text
	grep -qF "vLLM on eight · A model, chat, interactive. 8,840.421 tokens_s (output_token_throughput_tps, reported). mlperf · closed/datacenter · entry 5.1-1. KernelIndex serving run $SERVING. https://kernelindex.com/serving-runs/$SERVING." text
	grep -qx 'mlperf · closed/datacenter · entry 5.1-1 · shown unmodified as published' text
	lacks 'Rank\|Primary' text
	kistore retract "$SERVING" --reason 'a slip' >/dev/null
	expect 0 kistore show "$SERVING"
	grep -qx 'Retracted 2026-08-17: a slip' "$OUT"
}

@test "a raw object has size, a guess of its type, and its first lines" {
	printf 'one\033[31m\ntwo\n%s\n' "$(printf 'x%.0s' {1..500})" >text.log
	raw=$(put_raw text.log)
	expect 0 kistore show "$raw"
	tr -s ' ' <"$OUT" >text
	grep -qx " size $(wc -c <text.log) bytes" text
	grep -qx ' type binary a guess by its bytes' text
	grep -q '^ 0000 6f 6e 65 1b' text
	printf 'one\ntwo\n' >text.log
	raw=$(put_raw text.log)
	expect 0 kistore show "$raw"
	tr -s ' ' <"$OUT" >text
	grep -qx ' type text a guess by its bytes' text
	grep -qx ' two' text
}

# ---- Attestations -----------------------------------------------------------

@test "attestations are counted by type, newest first, with who signed" {
	kistore key generate --name me.example -o me.key >/dev/null
	kistore attest c3252a98 --type reproduced --key me.key \
		--value 620us --body 'Same within noise.' --author Ann >/dev/null
	SOURCE_DATE_EPOCH=1787086400 kistore attest c3252a98 \
		--type environment-note --key me.key --body 'A note.' \
		--author Ann >/dev/null
	expect 0 kistore show c3252a98
	tr -s ' ' <"$OUT" >text
	grep -qx ' 1 environment note · 1 reproduced' text
	grep -q '^ reproduced 620.0 µs · Ann · 2026-08-17 signed by no key that the log registers' text
	grep -qx ' Same within noise.' text
	[ "$(grep -n 'A note' text | cut -d : -f 1)" -lt \
		"$(grep -n 'Same within' text | cut -d : -f 1)" ]
	lacks 'No attestations yet' text
	attestation=$(kistore show --json c3252a98 | jq -r '[.sections[].rows[] |
		select(.label == "reproduced").digest][0]')
	expect 0 kistore show "$attestation"
	tr -s ' ' <"$OUT" >text
	grep -qx ' type reproduced' text
	grep -qx ' about Rotary position embedding · huggingface · backward BenchmarkRun c3252a98ba48' text
	grep -qx ' verified under no key that the log registers: anybody may have made it' text
	grep -q '^ counts it does not raise the evidence' text
}

@test "a rerun under a controlled key makes the evidence Verified" {
	kistore key generate --name log.example -o log.key >/dev/null
	kistore key generate --name runner.example -o runner.key >vkey
	kistore key register "$(cut -d ' ' -f 1 vkey)" >/dev/null
	kistore -q snapshot create --key log.key --first >/dev/null
	put_manifest '.spec.timing.latencyNs.median = 621000 |
		.spec.observedAt = "2026-08-01T00:00:00Z" |
		.metadata.name = "rerun"' "$CLOSURE/000/run.json"
	kistore attest c3252a98 --type rerun --rerun "$PUT" --key runner.key \
		>/dev/null
	expect 0 kistore show --json c3252a98
	jq -e '[.sections[0].rows[].value] |
		any(. == "● passed · Verified evidence")' "$OUT"
	expect 0 kistore show c3252a98
	tr -s ' ' <"$OUT" >text
	grep -q '^ rerun runner.example · 2026-08-17 signed by runner.example+[0-9a-f]\{8\} (controlled)' text
	attestation=$(kistore show --json c3252a98 | jq -r '[.sections[].rows[] |
		select(.label == "rerun").digest][0]')
	expect 0 kistore show "$attestation"
	tr -s ' ' <"$OUT" >text
	grep -q '^ verified under runner.example+[0-9a-f]\{8\} controlled, by entry [0-9]*$' \
		text
	grep -qx ' counts it makes the evidence of its subject Verified' text
	expect 0 kistore rank --json c3252a98
	jq -e --arg run "$RUN" '.runs | map(select(.digest == $run).evidence) ==
		["Verified"]' "$OUT"
}

@test "where an origin is pinned, only what is signed is shown" {
	kistore key generate --name log.example -o log.key >vkey
	kistore -q snapshot create --key log.key --first >/dev/null
	kistore retract c3252a98 --reason unsigned >/dev/null
	kistore verify --key "$(cut -d ' ' -f 1 vkey)" --pin >/dev/null
	expect 0 kistore show --json c3252a98
	err_has "1 entry after the"
	jq -e '.verified and (.retracted | not)' "$OUT"
	expect 0 kistore rank --json c3252a98
	jq -e '.verified and .ranked == 4' "$OUT"
	expect 0 kistore show --json --unsigned c3252a98
	jq -e '(.verified | not) and .retracted' "$OUT"
	expect 0 kistore rank --json --unsigned c3252a98
	jq -e '.ranked == 3' "$OUT"
	expect 0 kistore compare --json c3252a98 3de2d5f3
	jq -e '.verified and .comparable' "$OUT"
}

# ---- Terminals and hostile text ---------------------------------------------

@test "hostile titles are shown harmlessly, on a terminal and off" {
	need_terminal
	title=$'evil \033[31mred \u202e\u2066x \u0007'
	jq -nc --arg title "$title" '{apiVersion:
		"kernelindex.dev/v1alpha1", kind: "SoftwareProject",
		metadata: {name: "evil", title: $title, description: "a\nb"},
		spec: {name: "n\u001b]0;x\u0007"}}' >evil.json
	kistore -q put evil.json >/dev/null
	expect 0 kistore show evil
	LC_ALL=C lacks $'[\001-\011\013-\037\177]' "$OUT"
	grep -qF 'evil \x1b[31mred \xe2\x80\xae\xe2\x81\xa6x \x07' "$OUT"
	grep -qx '  a' "$OUT"
	expect 0 kistore show --json evil
	jq -e . "$OUT" >/dev/null
	NO_COLOR=1 on_terminal 80 "$KISTORE" show evil
	LC_ALL=C lacks $'[\001-\011\013-\037\177]' "$OUT"
}

@test "names that are too wide are cut by columns, with a mark" {
	need_terminal
	wide=$(printf '漢%.0s' {1..120})
	jq -nc --arg title "$wide" '{apiVersion:
		"kernelindex.dev/v1alpha1", kind: "ModelRevision",
		metadata: {name: "wide", title: $title},
		spec: {model: "m"}}' >wide.json
	kistore -q put wide.json >/dev/null
	NO_COLOR=1 on_terminal 61 "$KISTORE" show wide
	[ "$(head -n 1 "$OUT")" = "$(printf '漢%.0s' {1..30})…" ]
	# Marks that are piled up do not make a line of them.
	piled=$(printf 'e%s' "$(printf '\u0301%.0s' {1..190})")
	jq -c --arg title "$piled" '.metadata.title = $title |
		.metadata.name = "piled" | .spec.model = "p"' wide.json >piled.json
	kistore -q put piled.json >/dev/null
	NO_COLOR=1 on_terminal 60 "$KISTORE" show piled
	[ "$(head -n 1 "$OUT" | wc -m)" -le 35 ]
	# Off a terminal nothing is cut or wrapped.
	expect 0 kistore show wide
	[ "$(head -n 1 "$OUT")" = "$wide" ]
}

@test "a terminal gets lines of its width, and words that are whole" {
	need_terminal
	NO_COLOR=1 on_terminal 60 "$KISTORE" show c3252a98
	[ -s "$OUT" ]
	# A line that is longer ends in a word that has no room in any.
	python3 - "$OUT" <<-'END'
	import sys
	for line in open(sys.argv[1]).read().split("\n"):
	    if len(line) > 60:
	        words = line.split()
	        assert len(words[-1]) > 40, line
	        assert len(line) - len(words[-1]) <= 30, line
	END
	grep -q "$RUN" "$OUT"
	COLUMNS=200 NO_COLOR=1 on_terminal 60 "$KISTORE" show c3252a98
	awk 'length > 120 { wide = 1 } END { exit !wide }' "$OUT"
}

@test "colour is for terminals only, and NO_COLOR and TERM are respected" {
	need_terminal
	on_terminal 80 "$KISTORE" show c3252a98
	grep -q $'\033\\[1mPrimary measurement\033\\[0m' "$OUT"
	NO_COLOR=1 on_terminal 80 "$KISTORE" show c3252a98
	lacks $'\033' "$OUT"
	on_terminal 80 env TERM=dumb "$KISTORE" show c3252a98
	lacks $'\033' "$OUT"
	expect 0 kistore show c3252a98
	lacks $'\033' "$OUT"
}

@test "a log that needs a newer kistore is not told" {
	git -C "$KISTORE_DIR" show HEAD:log/000/000.jsonl >log
	echo '{"at":"2026-08-17T20:53:20Z","op":"newer"}' >>log
	replace log/000/000.jsonl log
	expect 8 kistore show c3252a98
	silent_out
}
