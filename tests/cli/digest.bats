#!/usr/bin/env bats
# kistore digest: the identity of every manifest in files.
# bats file_tags=valgrind

load ../lib/common

prepare() {
	cat >project.json <<-'END'
	{"kind": "SoftwareProject", "apiVersion": "kernelindex.dev/v1alpha1",
	 "metadata": {"name": "demo"}, "spec": {"name": "Demo"}}
	END
	# What sha256sum says of the canonical {apiVersion, kind, spec}.
	digest=sha256:$(printf '%s%s' \
		'{"apiVersion":"kernelindex.dev/v1alpha1",' \
		'"kind":"SoftwareProject","spec":{"name":"Demo"}}' |
		sha256sum | cut -c1-64)
	kind=kernelindex.dev/v1alpha1/SoftwareProject
}

@test "a manifest has the digest of its canonical apiVersion, kind and spec" {
	expect 0 kistore digest project.json
	silent_err
	out_is "$digest $kind"
}

@test "metadata is outside the digest" {
	sed 's/"demo"/"other"/' project.json >other.json
	expect 0 kistore digest project.json other.json
	out_is "$digest $kind
$digest $kind"
}

@test "--json prints one object a line" {
	expect 0 kistore digest --json project.json
	silent_err
	jq -e --arg digest "$digest" --arg kind "$kind" \
		'. == {schema: "kistore-digest/1", $digest, $kind}' "$OUT"
}

@test "- is standard input" {
	"$KISTORE" digest - <project.json >out
	[ "$(cat out)" = "$digest $kind" ]
}

@test "JSON Lines and arrays give one line a manifest, in order" {
	tr -d '\n' <project.json >one
	{ cat one; echo; cat one; echo; } >two.jsonl
	{ printf '['; cat one; printf ','; cat one; printf ']'; } >two.json
	for file in two.jsonl two.json; do
		expect 0 kistore digest "$file"
		out_is "$digest $kind
$digest $kind"
	done
}

@test "an unknown member is warned about, and refused with --strict" {
	sed 's/"name": "Demo"/"name": "Demo", "colour": 1/' project.json >odd.json
	expect 0 kistore digest odd.json
	err_has "spec.colour"
	expect 4 kistore digest --strict odd.json
	silent_out
	err_has "spec.colour"
	expect 0 kistore -q digest odd.json
	silent_err
}

@test "an unknown kind is refused unless it is allowed" {
	sed 's/SoftwareProject/SoftwareThing/' project.json >odd.json
	expect 4 kistore digest odd.json
	silent_out
	err_has "SoftwareThing"
	expect 0 kistore digest --allow-unknown-kind odd.json
	grep -q ' kernelindex.dev/v1alpha1/SoftwareThing$' "$OUT"
}

@test "what is no manifest is refused" {
	echo '{"a":1}' >odd.json
	expect 4 kistore digest odd.json
	silent_out
	[ "$(grep -c '^kistore: odd.json' "$ERR")" -eq 1 ]
}

@test "every example of the publisher gets its published digest" {
	need_shared vectors/examples/digests.tsv
	while read -r name want; do
		expect 0 kistore digest "$SHARED/vectors/examples/$name.json"
		[ "$(first_digest)" = "sha256:$want" ]
	done <"$SHARED/vectors/examples/digests.tsv"
}

@test "the publisher's invalid examples are refused" {
	need_shared vectors/examples/invalid
	for name in ambiguous-duration bad-digest duplicate-key; do
		expect 4 kistore digest \
			"$SHARED/vectors/examples/invalid/$name.json"
		silent_out
	done
	expect 4 kistore digest --strict \
		"$SHARED/vectors/examples/invalid/unknown-field.json"
	silent_out
}

@test "both seed runs get the digest that their pages state" {
	[ -d "$REPO/fixtures/seeds" ]
	expect 0 kistore digest "$REPO"/fixtures/seeds/run-*.json
	grep -q '^sha256:21df0b65[0-9a-f]* .*/BenchmarkRun$' "$OUT"
	grep -q '^sha256:c3252a98[0-9a-f]* .*/BenchmarkRun$' "$OUT"
}
