#!/usr/bin/env bats
# kistore get: exact bytes, or nothing.

load ../lib/common
load ../lib/store

prepare() {
	seed_store
}

# bats test_tags=valgrind
@test "get prints the body, with no newline added" {
	expect 0 kistore get c3252a98
	silent_err
	cmp "$OUT" "$SEEDS/run.jcs"
	[ "sha256:$(sha256sum <"$OUT" | cut -c1-64)" = "$RUN" ]
}

@test "every reading of a reference is taken" {
	for reference in "$RUN" "${RUN#sha256:}" "${RUN:7:6}" \
		"${RUN:0:20}" C3252A98; do
		expect 0 kistore get "$reference"
		cmp "$OUT" "$SEEDS/run.jcs"
	done
	for reference in transformers SoftwareProject/transformers \
		kernelindex.dev/v1alpha1/SoftwareProject/transformers; do
		expect 0 kistore get "$reference"
		cmp "$OUT" "$SEEDS/project.jcs"
	done
}

@test "--manifest adds the metadata, canonically" {
	expect 0 kistore get --manifest c3252a98
	kistore canon "$SEEDS/run.json" | cmp - "$OUT"
}

@test "--manifest has the metadata of the newest annotate" {
	echo '{"name":"renamed"}' >metadata.json
	kistore annotate "$PROJECT" --metadata metadata.json
	expect 0 kistore get --manifest "$PROJECT"
	jq -e '.metadata == {name: "renamed"}' "$OUT"
	expect 0 kistore get --manifest --at 8 "$PROJECT"
	jq -e '.metadata.name == "transformers"' "$OUT"
}

@test "--bundle has the whole closure, and can be put again" {
	expect 0 kistore get --bundle c3252a98
	cp "$OUT" bundle.json
	kistore canon bundle.json | cmp - bundle.json
	jq -e '.run.kind == "BenchmarkRun" and (length == 6)' bundle.json
	expect 0 kistore put bundle.json
	[ "$(grep -c ' known$' "$OUT")" -eq 6 ]
}

@test "--page is indented text that ends in a newline" {
	expect 0 kistore get --page c3252a98
	[ "$(head -c 2 "$OUT")" = "{" ]
	[ "$(tail -c 1 "$OUT" | od -An -tx1)" = " 0a" ]
	jq -e 'keys == ["environment", "protocol", "run"]' "$OUT"
	cmp "$SEEDS/../../run-c3252a98.json" "$OUT"
}

@test "only one form can be asked for" {
	expect 2 kistore get --manifest --bundle c3252a98
	silent_out
}

@test "a retracted record is printed, with a note" {
	kistore retract c3252a98 --reason wrong
	expect 0 kistore get c3252a98
	cmp "$OUT" "$SEEDS/run.jcs"
	err_is "kistore: c3252a98 is retracted (kistore log c3252a98 tells more)"
	expect 0 kistore -q get c3252a98
	silent_err
}

@test "nothing is printed for what is not there" {
	for reference in 0000000 "sha256:${RUN:7:63}0" noname ''; do
		expect 3 kistore get "$reference"
		silent_out
		[ "$(wc -l <"$ERR")" -eq 1 ]
	done
}

@test "nothing is printed for what was taken down" {
	kistore takedown "$WORKLOAD" --reason law
	expect 3 kistore get "$WORKLOAD"
	silent_out
	err_has "was taken down"
}

@test "nothing is printed of damaged bytes" {
	path=$(object_path "$RUN")
	sed 's/h100/h200/; s/20/21/' "$SEEDS/run.jcs" | zstd -q -c >other.zst
	replace "$path" other.zst
	expect 1 kistore get c3252a98
	silent_out
	err_has "$path"
	head -c 50 other.zst >short.zst
	replace "$path" short.zst
	expect 1 kistore get c3252a98
	silent_out
}

@test "what was published and is absent is damage" {
	remove "$(object_path "$RUN")"
	expect 1 kistore get c3252a98
	silent_out
	err_has "absent"
}

@test "an ambiguous reference lists its candidates" {
	for name in one two; do
		printf '{"apiVersion":"kernelindex.dev/v1alpha1",%s,%s,%s}\n' \
			'"kind":"SoftwareProject"' '"metadata":{"name":"same"}' \
			"\"spec\":{\"name\":\"$name\"}"
	done | kistore put -
	expect 3 kistore get same
	silent_out
	[ "$(grep -c '^kistore: candidate: [0-9a-f]\{12\} SoftwareProject same' \
		"$ERR")" -eq 2 ]
	err_has "same is ambiguous: 2 objects"
}

@test "--at is an earlier state" {
	kistore put "$SEEDS/group/run-3de2d5f3d659.json" \
		"$SEEDS/group/implementation-51eb16de033f.json"
	expect 0 kistore get 3de2d5f3d659
	expect 3 kistore get --at 8 3de2d5f3d659
	silent_out
	expect 3 kistore get --at 7777 "$RUN"
	silent_out
}
