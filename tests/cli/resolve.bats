#!/usr/bin/env bats
# kistore resolve: what references mean.

load ../lib/common
load ../lib/store

prepare() {
	seed_store
}

# Two projects of one name.
put_same() {
	for name in one two; do
		printf '{"apiVersion":"kernelindex.dev/v1alpha1",%s,%s,%s}\n' \
			'"kind":"SoftwareProject"' \
			'"metadata":{"name":"same","title":"The \u0007 bell"}' \
			"\"spec\":{\"name\":\"$name\"}"
	done | kistore -q put - >/dev/null
}

# bats test_tags=valgrind
@test "a reference gives one line, the full digest" {
	expect 0 kistore resolve c3252a98
	silent_err
	out_is "$RUN"
}

@test "several references give a line each, in order" {
	expect 0 kistore resolve transformers c3252a98 "$OPERATION"
	out_is "$PROJECT
$RUN
$OPERATION"
}

@test "one that means nothing does not keep the others from being answered" {
	expect 3 kistore resolve transformers nothing c3252a98
	out_is "$PROJECT
$RUN"
	[ "$(wc -l <"$ERR")" -eq 1 ]
	err_has "nothing: nothing in this store has that digest, id or name"
}

@test "an id and a prefix of it are references" {
	id=0b4fb05a-6b1f-4b0e-9d3e-0123456789ab
	echo "{\"id\":\"$id\"}" >provenance.json
	kistore annotate "$PROJECT" --provenance provenance.json
	expect 0 kistore resolve "$id" "${id:0:13}"
	out_is "$PROJECT
$PROJECT"
	expect 0 kistore resolve --json "${id:0:13}"
	jq -e '.matches[0].reading == "id prefix"' "$OUT"
}

@test "prefixes of fewer than 6 digits are not taken" {
	expect 3 kistore resolve c3252
	silent_out
}

@test "candidates of an ambiguous reference are listed on standard error" {
	put_same
	expect 3 kistore resolve same
	silent_out
	[ "$(wc -l <"$ERR")" -eq 3 ]
	[ "$(grep -cE 'candidate: [0-9a-f]{12} SoftwareProject same, "The \\x07 bell", (one|two) \(by name\)' \
		"$ERR")" -eq 2 ]
	tail -n 1 "$ERR" | grep -qx 'kistore: same is ambiguous: 2 objects'
	# They are part of the failure, so -q keeps them.
	expect 3 kistore -q resolve same
	[ "$(wc -l <"$ERR")" -eq 3 ]
}

@test "candidates carry their marks" {
	put_same
	digest=$(kistore resolve --json same 2>/dev/null |
		jq -r '.matches[0].digest')
	kistore retract "$digest" --reason wrong
	expect 3 kistore resolve same
	[ "$(grep -c '(by name; retracted)' "$ERR")" -eq 1 ]
}

@test "candidates of one name are told apart" {
	jq '.spec.timing.latencyNs.median = 12250' "$SEEDS/run.json" >run.json
	jq '.spec |= (.status = "runtime_error" | del(.timing, .measurements))' \
		"$SEEDS/run.json" >failed.json
	jq '.spec.support.productsTested = ["A", "B", "C", "D"]' \
		"$SEEDS/implementation.json" >tested.json
	jq --arg c "$(printf '0123456789%.0s' 1 2 3 4)" \
		'.spec.projectRevision.commit = $c' \
		"$SEEDS/implementation.json" >commit.json
	jq '.spec.axes.seq = 1' "$SEEDS/workload.json" >workload.json
	kistore digest commit.json | jq -R --arg project "$PROJECT" \
		'{(split(" ")[0]): {$project}}' >provenance.json
	kistore put --provenance provenance.json run.json failed.json \
		tested.json commit.json workload.json
	# $1 file; then the particulars of all that have its name
	particulars() {
		local name
		name=$(jq -r .metadata.name "$1")
		expect 3 kistore resolve "$name"
		sed -n 's/^kistore: candidate: [0-9a-f]* [A-Za-z]* [^,]*, \(".*", \)\{0,1\}\(.*\) (by name)$/\2/p' \
			"$ERR" | LC_ALL=C sort >told
		diff told -
		expect 3 kistore resolve --json "$name"
		jq -r '.matches[].particulars' "$OUT" | LC_ALL=C sort >json
		diff json told
	}
	particulars run.json <<-'END'
	12.3 µs median · 2024-09-03
	621.5 µs median · 2024-09-03
	runtime_error · 2024-09-03
	END
	particulars workload.json <<-'END'
	seq = 1 · hidden = 8192 · q_heads = 32 · kv_heads = 8 · bf16
	seq = 2048 · hidden = 8192 · q_heads = 32 · kv_heads = 8 · bf16
	END
	name=$(jq -r .metadata.name tested.json)
	expect 3 kistore resolve "ImplementationRevision/$name"
	[ "$(grep -c candidate: "$ERR")" -eq 3 ]
	err_has "A, B, C +1 (by name)"
	err_has "transformers · 012345678901 (by name)"
	# Where there is but one, nothing is to be told apart.
	expect 0 kistore resolve --json c3252a98
	jq -e '.matches[0].particulars == ""' "$OUT"
}

@test "kind/name takes the kind in short and in full" {
	expect 0 kistore resolve SoftwareProject/transformers \
		kernelindex.dev/v1alpha1/SoftwareProject/transformers
	out_is "$PROJECT
$PROJECT"
	for ref in OperationSpec/transformers softwareproject/transformers \
		v1alpha1/SoftwareProject/transformers /transformers \
		SoftwareProject/ SoftwareProject//transformers; do
		expect 3 kistore resolve "$ref"
		err_is "kistore: $ref: nothing in this store has that digest, id or name"
	done
}

@test "a name with slashes, of a kind that is not known, is one all the same" {
	printf '{"apiVersion":"a/b","kind":"Thing",%s,"spec":{}}' \
		'"metadata":{"name":"c/d"}' | kistore put --allow-unknown-kind -
	expect 0 kistore resolve c/d Thing/c/d a/b/Thing/c/d
	[ "$(sort -u "$OUT" | wc -l)" -eq 1 ]
	expect 3 kistore resolve Thing/c
}

# The seeds' run as the catalogue has it, and an implementation's slug.
put_ids() {
	id=01a016ae-0000-7000-8000-000000000001
	implementation=$(kistore digest "$SEEDS/implementation.json" |
		cut -d' ' -f1)
	jq -n --arg run "$RUN" --arg id "$id" --arg i "$implementation" \
		'{($run): {$id}, ($i): {slug: "liger-rope"}}' >provenance.json
	kistore -q put --annotate --provenance provenance.json \
		"$SEEDS"/{run,implementation}.json >/dev/null
}

@test "permalinks are references" {
	put_ids
	site=https://kernelindex.com
	expect 0 kistore resolve "$site/runs/$id" "$site/runs/$RUN" \
		"$site/runs/${RUN/:/%3A}/" "${site/https/http}/runs/$id?a#b" \
		"HTTPS://KernelIndex.com/runs/${id^^}"
	silent_err
	[ "$(wc -l <"$OUT")" -eq 5 ]
	[ "$(sort -u "$OUT")" = "$RUN" ]
	slug=$(jq -r .metadata.name "$SEEDS/operation.json")
	expect 0 kistore resolve \
		"$site/operations/$slug?workload=$id&cohort=$RUN" \
		"$site/implementations/liger-rope" \
		"$site/projects/transformers/"
	out_is "$OPERATION
$implementation
$PROJECT"
	expect 0 kistore resolve --json "$site/runs/$id"
	jq -e '.matches[0].reading == "permalink"' "$OUT"
	expect 0 kistore get "$site/runs/$id"
	[ "sha256:$(sha256sum <"$OUT" | cut -c1-64)" = "$RUN" ]
	expect 0 kistore log "$site/runs/$id"
}

@test "a slug that changes is followed by its permalink" {
	put_ids
	kistore annotate "$implementation" --provenance - \
		<<<'{"slug":"liger-rope-2"}'
	site=https://kernelindex.com/implementations
	expect 0 kistore resolve "$site/liger-rope-2"
	out_is "$implementation"
	expect 3 kistore resolve "$site/liger-rope"
	rm demo.git/kistore-index.sqlite*
	expect 0 kistore resolve "$site/liger-rope-2"
	out_is "$implementation"
}

@test "a permalink is to a record of its kind" {
	put_ids
	site=https://kernelindex.com
	expect 3 kistore resolve "$site/runs/$PROJECT"
	err_is "kistore: $site/runs/$PROJECT: no BenchmarkRun in this store has that digest"
	expect 3 kistore resolve "$site/serving-runs/$id"
	err_is "kistore: $site/serving-runs/$id: no ServingRun in this store has that id"
	expect 3 kistore resolve "$site/operations/transformers"
	err_is "kistore: $site/operations/transformers: no OperationSpec in this store has that slug or name"
}

@test "any other address of that host is no permalink" {
	site=https://kernelindex.com
	for ref in "$site" "$site/" "$site/runs" "$site/runs/c3252a98" \
		"$site/gpus/h100" "$site/runs/$RUN/x" "$site//runs/$RUN"; do
		expect 3 kistore resolve "$ref"
		silent_out
		err_is "kistore: $ref: not a permalink that kistore knows (runs/ID, serving-runs/ID, operations/SLUG, implementations/SLUG and projects/SLUG are)"
	done
	for ref in "https://example.org/runs/$RUN" \
		"https://kernelindex.com@example.org/runs/$RUN" \
		"kernelindex.com:runs/$RUN"; do
		expect 3 kistore resolve "$ref"
		err_is "kistore: $ref: nothing in this store has that digest, id, external id or name"
	done
}

@test "a retracted or superseded record resolves, with a note" {
	kistore retract c3252a98 --reason wrong
	expect 0 kistore resolve c3252a98
	out_is "$RUN"
	err_has "c3252a98 is retracted"
}

@test "--json is one object a reference" {
	put_same
	expect 3 kistore resolve --json c3252a98 nothing same
	[ "$(wc -l <"$OUT")" -eq 3 ]
	jq -es --arg run "$RUN" '
		map(.schema == "kistore-resolve/1") == [true, true, true] and
		map(.result) == ["ok", "not-found", "ambiguous"] and
		map(.reference) == ["c3252a98", "nothing", "same"] and
		map(.matches | length) == [1, 0, 2] and
		map(.digest) == [$run, null, null] and
		.[0].matches[0].kind == "kernelindex.dev/v1alpha1/BenchmarkRun" and
		.[0].matches[0].reading == "digest prefix"' "$OUT"
}

@test "--tree draws what a record refers to" {
	expect 0 kistore resolve --tree c3252a98
	silent_err
	sed 's/ liger-[^ ]*/ NAME/' "$OUT" >shape
	diff - shape <<-'END'
	BenchmarkRun c3252a98ba48 NAME
	├── spec.environmentDigest ExecutionEnvironment 90c9e2764222 NAME
	├── spec.implementationDigest ImplementationRevision 459baf6556e5 NAME
	│   └── spec.operation.specDigest OperationSpec e655a9562986 NAME
	├── spec.protocolDigest BenchmarkProtocol 080e6e66e4ec NAME
	└── spec.workloadDigest WorkloadCase c66457140cb6 NAME
	    └── spec.operationSpecDigest OperationSpec e655a9562986 NAME (shown above)
	END
}

@test "--tree draws in ASCII where the locale has no UTF-8" {
	LC_ALL=C expect 0 kistore resolve --tree c3252a98
	LC_ALL=C grep -q '^|   `-- spec.operation.specDigest ' "$OUT"
	[ "$(LC_ALL=C grep -c '[^ -~]' "$OUT")" -eq 0 ]
}

@test "--tree says what is missing and what was taken down" {
	kistore takedown "$WORKLOAD" --reason law
	expect 0 kistore resolve --tree c3252a98
	grep -q 'spec.workloadDigest .*c66457140cb6.* (taken down)$' "$OUT"
	empty_dir=$BATS_TEST_TMPDIR/other.git
	kistore init "$empty_dir"
	kistore -C "$empty_dir" put --allow-missing "$SEEDS/run.json"
	expect 0 kistore -C "$empty_dir" resolve --tree c3252a98
	[ "$(grep -c '(missing)$' "$OUT")" -eq 4 ]
}

@test "--tree --json has the nodes in order" {
	expect 0 kistore resolve --tree --json c3252a98
	jq -e --arg run "$RUN" '.tree[0].digest == $run and
		(.tree | map(.depth)) == [0, 1, 1, 2, 1, 1, 2] and
		.tree[6].repeated and .tree[1].state == "archived"' "$OUT"
}

@test "control characters in a reference do not reach the terminal" {
	expect 3 kistore resolve $'a\033[31m'
	err_has 'a\x1b[31m'
}

# ---- What a source calls a run -----------------------------------------------

# A run like RUN, with this external id and median.
called() {
	kistore get --manifest "$RUN" | jq -c --arg id "$1" --argjson ns "$2" '
		.spec.sourceNative.externalId = $id |
		.spec.timing.latencyNs.median = $ns' |
		kistore -q put - | cut -d' ' -f1
}

@test "SOURCE:EXTERNALID is the run that a source calls so" {
	source=$(kistore get "$RUN" | jq -r .spec.sourceNative.source)
	id=$(kistore get "$RUN" | jq -r .spec.sourceNative.externalId)
	expect 0 kistore resolve "$source:$id"
	silent_err
	out_is "$RUN"
	expect 0 kistore resolve --json "$source:$id"
	jq -e '.matches[0].reading == "external id"' "$OUT"
	for ref in "$source:${id%?}" "other:$id" "$source:" ":$id"; do
		expect 3 kistore resolve "$ref"
		silent_out
		err_is "kistore: $ref: nothing in this store has that digest, id, external id or name"
	done
}

@test "an external id may have colons, and may be that of several runs" {
	source=$(kistore get "$RUN" | jq -r .spec.sourceNative.source)
	one=$(called 'a:b/1' 100)
	expect 0 kistore resolve "$source:a:b/1"
	out_is "$one"
	two=$(called 'a:b/1' 200)
	expect 3 kistore resolve "$source:a:b/1"
	silent_out
	err_has "${one:7:12}"
	err_has "${two:7:12}"
	err_has "$source:a:b/1 is ambiguous: 2 objects"
	kistore takedown "$two" --reason test 2>/dev/null
	expect 0 kistore resolve "$source:a:b/1"
	out_is "$one"
}

@test "a Source is named by its slug" {
	source=$REPO/fixtures/seeds/closure/source.json
	slug=$(jq -r .slug "$source")
	digest=$(jq '{apiVersion: "kistore/v1", kind: "Source", spec: .}' \
		"$source" | kistore -q put - | cut -d' ' -f1)
	for ref in "$slug" "Source/$slug" "kistore/v1/Source/$slug"; do
		expect 0 kistore resolve "$ref"
		silent_err
		out_is "$digest"
	done
	for ref in "${slug%?}" "SoftwareProject/$slug" "Source/"; do
		expect 3 kistore resolve "$ref"
		silent_out
	done
	# What the log calls so is meant first.
	printf '{"apiVersion":"kernelindex.dev/v1alpha1",%s,%s,%s}' \
		'"kind":"SoftwareProject"' "\"metadata\":{\"name\":\"$slug\"}" \
		'"spec":{"name":"x"}' | kistore -q put - >put.out
	expect 0 kistore resolve "$slug"
	out_is "$(cut -d' ' -f1 put.out)"
}
