#!/usr/bin/env bats
# kistore put: what it takes, says, and leaves behind.

load ../lib/common
load ../lib/store

prepare() {
	empty_store
}

project() {
	printf '{"apiVersion":"kernelindex.dev/v1alpha1",%s,%s,%s}\n' \
		'"kind":"SoftwareProject"' "\"metadata\":{\"name\":\"$1\"}" \
		"\"spec\":{\"name\":\"${2:-$1}\"}"
}

# dossier FILTER: what KernelIndex's API says of the seeds' run, changed.
dossier() {
	jq -n --arg run "$RUN" --arg workload "$WORKLOAD" \
		--slurpfile r "$SEEDS/run.json" \
		--slurpfile p "$SEEDS/protocol.json" \
		--slurpfile e "$SEEDS/environment.json" '{
		illustrative: false,
		run: {id: "01a016ae-0000-7000-8000-000000000001",
			digest: $run, status: "passed",
			observedAt: "2024-09-03T00:00:00.000Z",
			publishedAt: "2026-08-18T00:00:00.000Z"},
		evidence: "reported", lifecycle: {retracted: null},
		workload: {id: "x", digest: $workload, label: "seq = 2048"},
		correctness: null, protocol: [], environment: [],
		provenance: {source: {name: "Liger-Kernel benchmarks",
			kind: "benchmark", url: "https://example.org/",
			license: "BSD-2-Clause"}, externalId: null},
		manifest: {run: $r[0], protocol: $p[0], environment: $e[0]}
		} | '"${1:-.}"
}

# bats test_tags=valgrind
@test "a run dossier gives the run its id and time, and lists what it leaves out" {
	dossier >dossier.json
	expect 0 kistore put --allow-missing dossier.json
	out_is "sha256:90c9e2764222f592477cfccf3373519add5a1b881563956ad058c4f99e41b6b9 kernelindex.dev/v1alpha1/ExecutionEnvironment new
sha256:080e6e66e4ec75a131aa0c9121c74b8e8eed64e7b6d621d567c6a28f79548be8 kernelindex.dev/v1alpha1/BenchmarkProtocol new
$RUN kernelindex.dev/v1alpha1/BenchmarkRun new"
	err_has 'dossier.json: members "environment, evidence, illustrative, lifecycle, protocol, workload" are not manifests: skipped'
	err_has "dossier.json: provenance.source does not say kind, name and slug: the run gets no Source from it (--source gives one)"
	git -C demo.git show HEAD:log/000/000.jsonl | tail -n 1 |
		jq -e '.provenance == {
			id: "01a016ae-0000-7000-8000-000000000001",
			publishedAt: "2026-08-18T00:00:00.000Z"}'
	expect 0 kistore resolve 01a016ae-0000-7000-8000-000000000001
	out_is "$RUN"
}

@test "a source that a dossier states whole becomes the run's Source" {
	dossier '.provenance.source.slug = "liger-kernel"' >dossier.json
	kistore put "$SEEDS"/{operation,workload,implementation}.json
	expect 0 kistore put dossier.json
	source=$(grep ' kistore/v1/Source new$' "$OUT" | cut -d' ' -f1)
	[ "$(kistore get "$source")" = '{"apiVersion":"kistore/v1","kind":"Source","spec":{"kind":"benchmark","name":"Liger-Kernel benchmarks","slug":"liger-kernel"}}' ]
	git -C demo.git show HEAD:log/000/000.jsonl | tail -n 1 |
		jq -e --arg source "$source" '.provenance.source == $source'
	expect 0 kistore verify
	# --source goes before it.
	expect 0 kistore put --annotate --source "$SEEDS/../source.json" \
		dossier.json
	git -C demo.git show HEAD:log/000/000.jsonl | tail -n 1 |
		jq -e --arg source "$source" '.op == "annotate" and
			.provenance.source != $source and
			(.provenance | has("id") and has("publishedAt"))'
}

@test "a dossier that states other digests than it has is refused, also by digest" {
	before=$(commit_id)
	zeros=$(printf '%064d' 0)
	while IFS='|' read -r filter says; do
		dossier "$filter" >dossier.json
		for command in "put --allow-missing" digest; do
			# shellcheck disable=SC2086 # words
			expect 4 kistore $command dossier.json
			[ "$(wc -l <"$ERR")" -eq 1 ]
			err_has "dossier.json: $says"
		done
	done <<-END
	.run.digest = "sha256:$zeros"|manifest.run: run.digest states sha256:$zeros, but the manifest's digest is $RUN
	.manifest.run.spec.status = "timeout"|manifest.run: run.digest states $RUN, but the manifest's digest is sha256:
	.manifest.protocol.spec.harness.name = "x"|manifest.protocol: spec.protocolDigest of the run states sha256:
	.workload.digest = "sha256:$zeros"|workload.digest states sha256:$zeros, but spec.workloadDigest of the run is $WORKLOAD
	END
	[ "$(commit_id)" = "$before" ]
}

@test "a dossier with members of other types is refused in one line" {
	while IFS='|' read -r filter says; do
		dossier "$filter" >dossier.json
		expect 4 kistore put --allow-missing dossier.json
		silent_out
		[ "$(wc -l <"$ERR")" -eq 1 ]
		err_has "dossier.json: $says"
	done <<-'END'
	.run.digest = 17|run.digest: 17 is not a digest
	.run.id = "run-1"|run.id: "run-1" is not a UUID
	.run.publishedAt = []|run.publishedAt: [] is not a string
	.workload.digest = "\u001b[31m"|workload.digest: "\u001b[31m" is not a digest
	del(.manifest.run)|manifest must be the run's, or have it as its member run
	.provenance.source += {slug: ["s"]}|provenance.source: spec.slug
	.manifest.environment.kind = "Thing"|manifest.environment: kind "Thing"
	.manifest = 1|this object is no record
	.run = null|this object is no record
	END
}

@test "a member name given twice refuses a dossier" {
	dossier . | sed 's/"evidence"/"run": {}, &/' >dossier.json
	expect 4 kistore put --allow-missing dossier.json
	silent_out
	err_has '"run"'
}

@test "dossiers in lines and lists are taken one by one" {
	{
		dossier | jq -c .
		dossier | jq -c '[., {workloads: [], x: .manifest.run}]'
	} >dossiers.jsonl
	expect 0 kistore put --allow-missing dossiers.jsonl
	[ "$(grep -c ' new$' "$OUT")" -eq 3 ]
}

@test "a submission's lists are published in order of their names, references first" {
	jq -n --slurpfile o "$SEEDS/operation.json" \
		--slurpfile w "$SEEDS/workload.json" \
		--slurpfile i "$SEEDS/implementation.json" \
		--slurpfile j "$SEEDS/project.json" \
		--slurpfile p "$SEEDS/protocol.json" \
		--slurpfile e "$SEEDS/environment.json" \
		--slurpfile r "$SEEDS/run.json" '{note: "x", operations: $o,
		workloads: $w, implementations: $i, projects: $j[0],
		protocols: $p, environments: $e, runs: $r}' >submission.json
	expect 0 kistore put submission.json
	[ "$(wc -l <"$OUT")" -eq 7 ]
	err_has 'submission.json: member "note" is not a manifest: skipped'
	# The names come in the order of the files of the worked example.
	expect 0 kistore log --root
	out_is "8 $ROOT"
	expect 0 kistore digest submission.json
	[ "$(wc -l <"$OUT")" -eq 7 ]
}

@test "a submission may wrap manifests as KernelIndex's form does" {
	dossier '{runs: [.manifest]}' >runs.json
	jq '{implementations: [{manifest: ., projectSlug: "transformers"}]}' \
		"$SEEDS/implementation.json" >implementations.json
	expect 0 kistore put --allow-missing runs.json implementations.json
	[ "$(grep -c ' new$' "$OUT")" -eq 4 ]
	err_has 'implementations.json: member "projectSlug" is not a manifest: skipped'
}

@test "a submission with anything else among its manifests is refused" {
	before=$(commit_id)
	project one >one.json
	while IFS='|' read -r filter says; do
		jq "{projects: [.]} | $filter" one.json >bad.json
		expect 4 kistore put bad.json
		silent_out
		[ "$(wc -l <"$ERR")" -eq 1 ]
		err_has "bad.json: $says"
	done <<-'END'
	.projects += [null]|projects: element 1: null is no manifest
	.projects += [{}]|projects: element 1: this object is no manifest
	.projects += [.projects]|projects: element 1: an array is no manifest
	.projects += [{table: "projects", row: {}}]|projects: element 1: this object is no manifest
	.projects[0].spec = {}|projects: element 0: spec.name
	.runs = {run: {apiVersion: 1, kind: 2}}|runs: run: apiVersion
	.projects = []|this object is no record
	END
	[ "$(commit_id)" = "$before" ]
	# Many, but no more than a line may hold.
	project one | jq -c '{projects: [range(20000) as $i | .]}' >many.jsonl
	expect 0 kistore put many.jsonl
	project one | jq -c '{projects: [range(40000) as $i | .]}' >more.jsonl
	expect 4 kistore put more.jsonl
	[ "$(wc -l <"$ERR")" -eq 1 ]
}

# bats test_tags=valgrind
@test "put prints digest, kind and state of each object, in input order" {
	expect 0 kistore put "$SEEDS"/{project,operation}.json
	out_is "$PROJECT kernelindex.dev/v1alpha1/SoftwareProject new
$OPERATION kernelindex.dev/v1alpha1/OperationSpec new"
	tail -n 1 "$ERR" | grep -qx 'kistore: added 2 entries; the log has 3'
}

@test "the log of a put is determined to the byte" {
	expect 0 kistore put "$SEEDS"/*.json
	[ "$(wc -l <"$OUT")" -eq 7 ]
	expect 0 kistore log --root
	out_is "8 $ROOT"
}

@test "putting the same again changes nothing" {
	kistore put "$SEEDS"/*.json
	before=$(commit_id)
	expect 0 kistore put "$SEEDS"/*.json
	[ "$(grep -c ' known$' "$OUT")" -eq 7 ]
	err_is "kistore: nothing to write; the log has 8 entries"
	[ "$(commit_id)" = "$before" ]
}

@test "beyond 100 objects only counts are printed" {
	expect 0 kistore put "$REPO/fixtures/liger-runs.jsonl"
	[ "$(grep -c sha256: "$OUT")" -eq 0 ]
	tail -n 1 "$OUT" | grep -Eqx 'all: [0-9]+ new, 0 known'
	sum=$(sed '$d' "$OUT" | awk '{ sum += $2 } END { print sum }')
	[ "$(tail -n 1 "$OUT")" = "all: $sum new, 0 known" ]
	expect 0 kistore log --root
	out_is "246 sha256:594185154274cf9558569c025fff049a6312f5186a146b031f2cf53a82a4d511"
}

@test "a directory is read recursively, and what is skipped is listed" {
	mkdir -p tree/sub
	project one >tree/sub/one.json
	project two >tree/two.jsonl
	zstd -q tree/two.jsonl -o tree/two.jsonl.zst
	echo no >tree/notes.txt
	ln -s two.jsonl tree/link.json
	expect 0 kistore put tree
	[ "$(wc -l <"$OUT")" -eq 2 ]
	err_has "tree/notes.txt: skipped"
	err_has "tree/link.json: skipped"
}

@test "- is standard input" {
	project one >one.json
	expect 0 kistore put - <one.json
	[ "$(wc -l <"$OUT")" -eq 1 ]
	expect 2 kistore put - -
	err_is "kistore: standard input (-) can be given only once"
	expect 2 kistore put --source - -
}

@test "--json is one object with all counts" {
	expect 0 kistore put --json "$SEEDS"/*.json
	[ "$(wc -l <"$OUT")" -eq 1 ]
	jq -e --arg commit "$(commit_id)" --arg run "$RUN" '
		.schema == "kistore-put/1" and .commit == $commit and
		.dryRun == false and .logSize == 8 and
		.counts.new == 7 and .counts.known == 0 and
		.counts.entries == 7 and (.objects | length) == 7 and
		(.kinds | map(.new) | add) == 7 and
		(.objects[] | select(.digest == $run) | .state) == "new"' "$OUT"
	expect 0 kistore put --json "$SEEDS"/*.json
	jq -e '.commit == null and .counts.known == 7' "$OUT"
}

@test "--json lists no objects beyond 100" {
	expect 0 kistore put --json "$REPO/fixtures/liger-runs.jsonl"
	jq -e 'has("objects") == false and .counts.new == 245' "$OUT"
}

@test "--dry-run prints the same and writes nothing" {
	before=$(commit_id)
	expect 0 kistore put --dry-run "$SEEDS"/*.json
	[ "$(grep -c ' new$' "$OUT")" -eq 7 ]
	tail -n 1 "$ERR" | grep -qx 'kistore: dry run, nothing written: would add 7 entries; the log would have 8'
	[ "$(commit_id)" = "$before" ]
}

@test "one refused manifest refuses all of them" {
	before=$(commit_id)
	project one >one.json
	echo '{"apiVersion":"kernelindex.dev/v1alpha1","kind":"SoftwareProject"}' \
		>bad.json
	expect 4 kistore put one.json bad.json
	silent_out
	err_has "kistore: bad.json"
	[ "$(commit_id)" = "$before" ]
}

@test "a reference to nothing refuses the put, and --allow-missing leaves it open" {
	expect 4 kistore put "$SEEDS/run.json"
	silent_out
	err_has "spec."
	err_has "--allow-missing"
	expect 0 kistore put --allow-missing "$SEEDS/run.json"
	out_is "$RUN kernelindex.dev/v1alpha1/BenchmarkRun new"
	err_has "4 references left open"
	git -C demo.git show HEAD:log/000/000.jsonl | tail -n 1 |
		jq -e '.missing | length == 4'
}

@test "other metadata is counted, and recorded with --annotate only" {
	project one X >one.json
	project two X >two.json
	kistore put one.json
	expect 0 kistore put two.json
	grep -q ' known$' "$OUT"
	err_has "1 known object came with other metadata (--annotate records it)"
	[ "$(kistore log | wc -l)" -eq 2 ]
	expect 0 kistore put --annotate two.json
	err_is "kistore: added 1 entry; the log has 3"
	expect 0 kistore resolve two
}

@test "an unknown member is warned about, and refused with --strict" {
	project one | sed 's/"spec":{/&"colour":1,/' >odd.json
	expect 4 kistore put --strict odd.json
	silent_out
	err_has "spec.colour"
	expect 0 kistore put odd.json
	err_has "spec.colour"
}

@test "-q prints the receipt and nothing else" {
	project one | sed 's/"spec":{/&"colour":1,/' >odd.json
	expect 0 kistore -q put odd.json
	silent_err
	[ "$(wc -l <"$OUT")" -eq 1 ]
}

@test "warnings of one sort are told once, and one by one with -v" {
	for i in $(seq 30); do
		project "p$i" | sed 's/"spec":{/&"colour":1,/'
	done >odd.jsonl
	expect 0 kistore put --dry-run odd.jsonl
	[ "$(grep -c 'spec.colour' "$ERR")" -eq 1 ]
	err_has "(and 29 more records like this)"
	expect 0 kistore put -v --dry-run odd.jsonl
	[ "$(grep -c 'spec.colour' "$ERR")" -eq 30 ]
}

@test "an unknown kind is refused unless it is allowed" {
	project one | sed 's/SoftwareProject/SoftwareThing/' >odd.json
	expect 4 kistore put odd.json
	silent_out
	expect 0 kistore put --allow-unknown-kind odd.json
	grep -q 'SoftwareThing new$' "$OUT"
}

@test "--source sets the source of new runs" {
	expect 0 kistore put --source "$SEEDS/../source.json" "$SEEDS"/*.json
	git -C demo.git show HEAD:log/000/000.jsonl |
		jq -es 'map(select(.kind == "kernelindex.dev/v1alpha1/BenchmarkRun"))
			| .[0].provenance.source | startswith("sha256:")'
}

@test "--annotate --source is laid over what stands" {
	echo "{\"$RUN\":{\"summary\":\"a run\"}}" >provenance.json
	kistore put --provenance provenance.json "$SEEDS"/*.json
	expect 0 kistore put --annotate --source "$SEEDS/../source.json" \
		"$SEEDS/run.json"
	git -C demo.git show HEAD:log/000/000.jsonl | tail -n 1 |
		jq -e '.op == "annotate" and (.provenance | keys) ==
			["source", "summary"] and .provenance.summary == "a run"'
	before=$(commit_id)
	expect 0 kistore put --annotate --source "$SEEDS/../source.json" \
		"$SEEDS/run.json"
	[ "$(commit_id)" = "$before" ]
	expect 0 kistore verify
}

@test "what arrives must be of the kind that waits for it" {
	jq --arg project "$PROJECT" '.spec.operationSpecDigest = $project' \
		"$SEEDS/workload.json" >waiting.json
	expect 0 kistore put --allow-missing waiting.json
	before=$(commit_id)
	expect 4 kistore put "$SEEDS/project.json"
	silent_out
	err_has "(R22)"
	err_has "spec.operationSpecDigest of sha256:"
	[ "$(commit_id)" = "$before" ]
	expect 0 kistore put "$SEEDS/operation.json"
	expect 0 kistore verify
}

@test "a source that arrives must be a Source" {
	echo "{\"$RUN\":{\"source\":\"$PROJECT\"}}" >provenance.json
	expect 0 kistore put --allow-missing --provenance provenance.json \
		"$SEEDS/run.json"
	expect 4 kistore put "$SEEDS/project.json"
	err_has "provenance.source of $RUN"
	expect 0 kistore put "$SEEDS/operation.json"
}

@test "--provenance is laid over, and refused for what is not in the input" {
	echo "{\"$PROJECT\":{\"summary\":\"a library\"}}" >provenance.json
	expect 0 kistore put --provenance provenance.json "$SEEDS/project.json"
	git -C demo.git show HEAD:log/000/000.jsonl | tail -n 1 |
		jq -e '.provenance == {summary: "a library"}'
	expect 4 kistore put --provenance provenance.json "$SEEDS/operation.json"
	silent_out
}

@test "an empty --source or --provenance is refused" {
	: >empty
	expect 4 kistore put --source empty "$SEEDS/project.json"
	err_is "kistore: empty: is empty"
	expect 4 kistore put --provenance empty "$SEEDS/project.json"
	expect 5 kistore put --source nofile "$SEEDS/project.json"
	silent_out
}

@test "what was taken down is skipped among many and refused alone" {
	kistore put "$SEEDS"/*.json
	kistore takedown "$PROJECT" --reason law
	expect 4 kistore put "$SEEDS/project.json"
	silent_out
	project one >one.json
	expect 0 kistore put "$SEEDS/project.json" one.json
	err_has "1 object taken down before: skipped"
}

@test "a receipt that cannot be printed says that the store was changed" {
	[ -c /dev/full ] || skip "no /dev/full"
	status=0
	"$KISTORE" put "$SEEDS/project.json" 2>err >/dev/full || status=$?
	[ "$status" -eq 5 ]
	grep -qF 'the store was changed, but cannot write standard output' err
	expect 0 kistore get "$PROJECT"
}

@test "a lock that stays held is reported with status 5" {
	need_command flock
	before=$(commit_id)
	expect 5 flock demo.git/kistore.lock "$KISTORE" put --wait 0 \
		"$SEEDS/project.json"
	silent_out
	err_has "held by another process"
	[ "$(commit_id)" = "$before" ]
}

@test "a writer waits for a lock that is given back" {
	need_command flock
	flock demo.git/kistore.lock sleep 1 3>&- &
	sleep 0.2
	expect 0 kistore put --wait 20 "$SEEDS/project.json"
}

@test "an interrupted put changes nothing and ends by the signal" {
	before=$(commit_id)
	mkfifo input
	sleep 30 >input 3>&- &
	writer=$!
	env --default-signal=INT timeout -s KILL 20 \
		"$KISTORE" put - <input >out 2>err &
	pid=$!
	sleep 0.5
	kill -INT "$(pgrep -P "$pid" -f put)"
	status=0
	wait "$pid" || status=$?
	kill "$writer"
	[ "$status" -eq 130 ]
	[ ! -s out ]
	[ "$(commit_id)" = "$before" ]
	expect 0 kistore put "$SEEDS/project.json"
}

@test "a malformed SOURCE_DATE_EPOCH is a mistake of the caller" {
	SOURCE_DATE_EPOCH=soon expect 2 kistore put "$SEEDS/project.json"
	silent_out
}

@test "a clock that goes back is warned about" {
	SOURCE_DATE_EPOCH=1 expect 0 kistore put "$SEEDS/project.json"
	err_has "the clock is before the log's last entry"
	kistore log 1.. | grep -q ' 2026-08-17T20:53:20Z '
}

@test "what is not a store is not written to" {
	git init -q --bare plain.git
	expect 3 kistore -C plain.git put "$SEEDS/project.json"
	silent_out
	err_has "not a kistore store"
	expect 3 kistore -C nowhere put "$SEEDS/project.json"
	silent_out
}

@test "a detached HEAD refuses writers" {
	kistore init --worktree work
	git -C work checkout -q --detach
	expect 5 kistore -C work put "$SEEDS/project.json"
	silent_out
	err_has "detached"
}

@test "many packs are loose objects and advice from then on" {
	for i in $(seq 50); do
		project "p$i" | kistore -q put - >/dev/null
	done
	project last >last.json
	expect 0 kistore put last.json
	err_has "run kistore gc"
	expect 0 kistore gc
	silent_out
	silent_err
	project more >more.json
	expect 0 kistore put more.json
	err_is "kistore: added 1 entry; the log has 53"
	expect 0 kistore verify
}
