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
	[ "$(grep -cE 'candidate: [0-9a-f]{12} SoftwareProject same, "The \\x07 bell" \(by name\)' \
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
