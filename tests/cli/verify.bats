#!/usr/bin/env bats
# kistore verify: names what is wrong, and what it did not check.

load ../lib/common
load ../lib/store

prepare() {
	seed_store
}

# bats test_tags=valgrind
@test "a sound store is counted, and what was not checked is said" {
	expect 0 kistore verify
	silent_err
	diff - "$OUT" <<-END
	checked 7 objects ($(cat "$SEEDS"/*.jcs | wc -c) bytes), 0 dictionaries and the log
	log of 8 entries, root $ROOT
	found nothing wrong
	signature not checked
	END
}

@test "an object with other bytes is damage" {
	path=$(object_path "$PROJECT")
	sed 's/transformers/transfarmers/' "$SEEDS/project.jcs" |
		zstd -q -c >other.zst
	replace "$path" other.zst
	expect 1 kistore verify
	silent_err
	grep -q "^damage $path $PROJECT " "$OUT"
	[ "$(grep -c '^damage ' "$OUT")" -eq 1 ]
	grep -q '^found 1 damaged, 0 absent, 0 unfetched, 0 unsupported$' "$OUT"
}

@test "a truncated frame and one with something after it are damage" {
	path=$(object_path "$PROJECT")
	git -C demo.git cat-file blob "HEAD:$path" >good.zst
	head -c 40 good.zst >short.zst
	replace "$path" short.zst
	expect 1 kistore verify
	grep -q "^damage $path $PROJECT " "$OUT"
	{ cat good.zst; printf x; } >long.zst
	replace "$path" long.zst
	expect 1 kistore verify
	grep -q "^damage $path $PROJECT " "$OUT"
}

@test "a published object that is not there is absent" {
	path=$(object_path "$PROJECT")
	remove "$path"
	expect 1 kistore verify
	grep -q "^absent $path $PROJECT " "$OUT"
}

@test "an object that the log does not publish is damage" {
	echo hello | zstd -q -c >stray.zst
	stray=sha256:$(echo hello | sha256sum | cut -c1-64)
	replace "$(object_path "$stray")" stray.zst
	expect 1 kistore verify
	grep -q "^damage $(object_path "$stray") $stray " "$OUT"
}

@test "a line that breaks a rule is named with its place" {
	{ git -C demo.git show HEAD:log/000/000.jsonl; echo '{}'; } >bad
	replace log/000/000.jsonl bad
	expect 1 kistore verify
	grep -q '^damage log/000/000.jsonl:9 - ' "$OUT"
}

@test "a line of a newer version is unsupported, status 8" {
	{
		git -C demo.git show HEAD:log/000/000.jsonl
		echo '{"at":"2026-08-17T20:53:20Z","op":"sing"}'
	} >new
	replace log/000/000.jsonl new
	expect 8 kistore verify
	grep -q '^unsupported log/000/000.jsonl:9 - ' "$OUT"
}

@test "damage is graver than what is unsupported" {
	{
		git -C demo.git show HEAD:log/000/000.jsonl
		echo '{"at":"2026-08-17T20:53:20Z","op":"sing"}'
	} >new
	replace log/000/000.jsonl new
	remove "$(object_path "$PROJECT")"
	expect 1 kistore verify
}

@test "blanks in a path are escaped, so that fields can be told apart" {
	echo x >file
	replace 'objects/a b' file
	expect 1 kistore verify
	grep -qF 'damage objects/a\x20b - ' "$OUT"
}

@test "a wrong mode is damage" {
	path=$(object_path "$PROJECT")
	git -C demo.git cat-file blob "HEAD:$path" >good.zst
	replace "$path" good.zst 100755
	expect 1 kistore verify
	grep -q "^damage $path " "$OUT"
}

@test "what was taken down is not damage" {
	kistore takedown "$WORKLOAD" --lines --reason law
	expect 0 kistore verify
	grep -qx 'taken down: 1 object' "$OUT"
}

@test "references restrict the check, and it says so" {
	remove "$(object_path "$PROJECT")"
	expect 0 kistore verify c3252a98
	grep -q 'other records not checked' "$OUT"
	expect 1 kistore verify "$PROJECT"
	expect 1 kistore verify c3252a98 "$PROJECT"
	expect 3 kistore verify nothing
	silent_out
}

@test "--json is an object a finding, and one for the whole" {
	remove "$(object_path "$PROJECT")"
	expect 1 kistore verify --json
	silent_err
	[ "$(wc -l <"$OUT")" -eq 2 ]
	jq -es --arg digest "$PROJECT" --arg root "$ROOT" '
		.[0].schema == "kistore-finding/1" and
		.[0].severity == "absent" and .[0].digest == $digest and
		.[1].schema == "kistore-verify/1" and .[1].absent == 1 and
		.[1].objects == 6 and .[1].log.root == $root and
		.[1].whole and
		(.[1].notChecked | contains("signature not checked"))' "$OUT"
}

@test "findings about kinds are counted, and listed with --warnings" {
	printf '{"apiVersion":"kernelindex.dev/v1alpha1",%s,%s,%s}\n' \
		'"kind":"SoftwareProject"' '"metadata":{"name":"odd"}' \
		'"spec":{"colour":1,"name":"odd"}' | kistore -q put -
	expect 0 kistore verify
	grep -q '^warnings: 1 (--warnings lists those about kinds)$' "$OUT"
	[ "$(grep -c '^warning ' "$OUT")" -eq 0 ]
	expect 0 kistore verify --warnings
	[ "$(grep -c '^warning .*spec.colour' "$OUT")" -eq 1 ]
	grep -qx 'warnings: 1' "$OUT"
}

@test "any number of threads gives the same report" {
	kistore -q put "$REPO/fixtures/liger-runs.jsonl" >/dev/null
	for n in 1 2 3 0; do
		kistore verify --threads $n >"report$n"
		cmp report1 "report$n"
	done
	expect 2 kistore verify --threads -1
	expect 2 kistore verify --threads many
}

@test "files that kistore does not cover are named" {
	echo text >LICENSE
	replace LICENSE LICENSE
	expect 0 kistore verify
	grep -q 'LICENSE is not covered' "$OUT"
}

@test "--at checks an earlier state" {
	remove "$(object_path "$PROJECT")"
	expect 1 kistore verify
	expect 0 kistore verify --at HEAD~1
}

@test "a finding under -q is still a result" {
	remove "$(object_path "$PROJECT")"
	expect 1 kistore -q verify
	grep -q '^absent ' "$OUT"
	silent_err
}
